"""运行这个文件夹里的脚本，把打印的内容与 expected 里核对过的记录比较。只用标准库。

运行：python check.py（Windows 上是 py check.py；脚本需要 PyTorch 时，用装了它的那个 python）
"""

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def shown(text):
    """网页显示的样子：行尾统一，制表符成空格，只有空白的行成空行。"""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return [line.expandtabs(4) if line.strip() else "" for line in lines]


def run(script):
    """像读者那样运行 script；返回 (退出码, 打印的内容, 报错的内容)。"""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, script.name], cwd=script.parent, env=environment, capture_output=True)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def check(script, expected):
    """一个脚本的结论：一句话，和它是否成立。"""
    code, printed, errors = run(script)
    if code:
        reason = (errors.strip() or "没有说明").splitlines()[-1]
        return False, f"没有运行完：{reason}"
    for number, (ours, theirs) in enumerate(zip_longest(shown(printed), shown(expected)), 1):
        if ours != theirs:
            missing = "（没有这一行）"
            return False, (
                f"从第 {number} 行开始不同\n    你这里：{missing if ours is None else ours}"
                f"\n    记录里：{missing if theirs is None else theirs}"
            )
    return True, "逐字相同"


def main():
    if hasattr(sys.stdout, "reconfigure"):  # 终端的编码写不出汉字时，写成转义，不中断；IDLE 里没有它
        sys.stdout.reconfigure(errors="backslashreplace")
    records = sorted((HERE / "expected").glob("*.txt"))
    if not records:
        print("没有可以比较的记录：expected 文件夹不存在，或者是空的。请重新解压整个 zip，再运行 check.py。")
        return 1
    failed = False
    for record in records:
        same, message = check(HERE / f"{record.stem}.py", record.read_text(encoding="utf-8"))
        failed = failed or not same
        print(f"{record.stem}.py：{message}")
    if failed:
        print("有不同：先看 Python 与各个库的版本是否与 README.txt 里写的一样；一样而结果不同，请告诉我们。")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
