"""下载包里的 README.txt：这一包是什么，在 Windows、macOS、Linux 上怎样运行、怎样核对。"""

from __future__ import annotations

#: 只用标准库或 PyTorch 的脚本需要的 Python；与“怎样使用本站”写的相同。别的库只保证核对时的那个版本。
OLDEST_PYTHON = "3.10"
CPU = "https://download.pytorch.org/whl/cpu"


def readme(
    title: str, scripts: list[str], notebook: str | None, expected: list[str], pins: dict[str, str], python: str
) -> str:
    """README 的文字，以 `\\n` 换行。

    `expected` 是有运行记录的脚本；`pins` 是要装的包与版本，空的表示只用标准库；`python` 是核对时的 Python。
    """
    parts = [title, _contents(scripts, notebook, expected, pins), _before(pins, python)]
    if pins:
        parts.append(_install(pins))
    if scripts:
        parts.append(_run(scripts, pins))
    if expected:
        parts.append(_check(scripts, bool(pins)))
    if notebook:
        parts.append(_notebook(notebook))
    parts.append("许可\n\n  代码：MIT。文字：CC BY-SA 4.0（署名—相同方式共享 4.0 国际）。")
    return "\n\n\n".join(parts) + "\n"


def _contents(scripts: list[str], notebook: str | None, expected: list[str], pins: dict[str, str]) -> str:
    lines = ["包里有什么", ""]
    lines += [f"  {name}" for name in scripts]
    lines += [f"  {notebook}：notebook，输出是核对过的"] if notebook else []
    lines += ["    脚本都只有一个文件，互不依赖。"] if len(scripts) > 1 else []
    lines += ["  expected：脚本的完整输出，是核对过的", "  check.py：运行脚本，并与 expected 比较"] if expected else []
    lines.append("  requirements.txt：" + ("要装的包，版本与核对时的相同" if pins else "说明不需要安装任何包"))
    return "\n".join(lines)


def _before(pins: dict[str, str], python: str) -> str:
    oldest = OLDEST_PYTHON if pins.keys() <= {"torch"} else python or OLDEST_PYTHON
    version = f"Python {oldest} 或更新的版本" + (f"（核对时用的是 {python}）" if python else "")
    needs = "要装的包见下一节。" if pins else "只用标准库，不需要安装任何包，也不联网。"
    return (
        f"准备\n\n  需要 {version}。{needs}\n"
        "  先把整个 zip 解压，再在解压出的文件夹里打开终端；不要在压缩包里直接双击脚本。"
    )


def _install(pins: dict[str, str]) -> str:
    cpu = f" --extra-index-url {CPU}" if "torch" in pins else ""
    lines = [
        "安装（装进这个文件夹里的虚拟环境，不影响别的项目）",
        "",
        "  Windows：",
        "    py -m venv .venv",
        "    .venv\\Scripts\\python -m pip install -r requirements.txt",
        "",
        "  macOS：",
        "    python3 -m venv .venv",
        "    .venv/bin/python -m pip install -r requirements.txt",
        "",
        "  Linux：",
        "    python3 -m venv .venv",
        f"    .venv/bin/python -m pip install -r requirements.txt{cpu}",
    ]
    if cpu:
        lines += ["    （末尾是 PyTorch 公开的 CPU 版地址；不写它，会装带 CUDA 的版本，多下载几个 GB。）"]
    lines += [
        "",
        "  下载慢：pip 可以换用软件包镜像，在命令末尾加上",
        "    --index-url 镜像地址",
        "  镜像由学校、云厂商或社区维护，请选你信得过的，地址以它自己的说明为准。",
        "  镜像里找不到某个版本，多半是还没有更新；换回源站再试。",
    ]
    return "\n".join(lines)


def _commands(files: list[str], installed: bool) -> str:
    windows = ".venv\\Scripts\\python" if installed else "py"
    others = ".venv/bin/python" if installed else "python3"
    rows = ["  Windows：", *(f"    {windows} {name}" for name in files), ""]
    return "\n".join([*rows, "  macOS 与 Linux：", *(f"    {others} {name}" for name in files)])


def _run(scripts: list[str], pins: dict[str, str]) -> str:
    text = "运行\n\n" + _commands(scripts, bool(pins))
    if "torch" in pins and "numpy" not in pins:
        text += "\n\n  PyTorch 可能提醒 Failed to initialize NumPy：没有装 NumPy。这些脚本用不到它，可以不管。"
    return text


def _check(scripts: list[str], installed: bool) -> str:
    return (
        "核对\n\n  下面的命令运行"
        + ("每个脚本" if len(scripts) > 1 else "脚本")
        + "，逐行比较它打印的内容与 expected 里的记录：\n\n"
        + _commands(["check.py"], installed)
    )


def _notebook(name: str) -> str:
    return (
        "notebook\n\n  从头到尾运行一遍，不改动文件；没有报错，就是每个断言都成立：\n\n"
        f"  Windows：\n    .venv\\Scripts\\jupyter-execute {name}\n\n"
        f"  macOS 与 Linux：\n    .venv/bin/jupyter-execute {name}\n\n"
        "  想逐格阅读和修改：用 VS Code 等编辑器打开它，内核选上面的虚拟环境；"
        "\n  或者用同样的办法再装 notebook 这个包，然后运行：\n\n"
        f"  Windows：\n    .venv\\Scripts\\python -m notebook {name}\n\n"
        f"  macOS 与 Linux：\n    .venv/bin/python -m notebook {name}"
    )
