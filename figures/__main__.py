"""命令行：重画所有图，或者检查存下的图是不是现在的代码画的。"""

import argparse
import sys

from .store import FOLDER, check, update


def main(arguments=None, folder=FOLDER):
    """运行命令行，返回退出码：0 一致（或已更新），1 有不一致。"""
    parser = argparse.ArgumentParser(prog="python -m figures", description="画出 docs/figures 里的图")
    parser.add_argument("--check", action="store_true", help="只比较，不写文件；有不同就以 1 退出")
    options = parser.parse_args(arguments)
    if options.check:
        problems = check(folder)
        for problem in problems:
            print(problem, file=sys.stderr)
        if not problems:
            print("docs/figures：每张图都与代码画出的一致")
        return 1 if problems else 0
    changed = update(folder)
    for line in changed:
        print(line)
    if not changed:
        print("docs/figures：没有变化")
    return 0


if __name__ == "__main__":
    sys.exit(main())
