"""图与文件：画出全部、写进 docs/figures、或与存下的比较。"""

import importlib
import os
import tempfile

from .lesson import ROOT

FOLDER = ROOT / "docs" / "figures"
NAMES = (
    "attention-read",
    "head-split-merge",
    "causal-mask",
    "gqa-groups",
    "rope-rotation",
    "kv-cache",
    "kv-cache-cost",
    "mask-before-softmax",
    "norm-geometry",
    "rope-wavelength",
    "swiglu-path",
    "moe-routing",
    "architecture-path",
    "block-residual",
    "label-shift",
    "poem-loss",
)


def draw_all():
    """返回 文件名 -> 字节，全部现画。"""
    pictures = {}
    for name in NAMES:
        module = importlib.import_module(f".{name.replace('-', '_')}", __package__)
        pictures[f"{name}.svg"] = module.draw().encode("utf-8")
    return pictures


def stored(folder):
    """返回 folder 里已有的图：文件名 -> 字节。"""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.svg"))}


def update(folder=FOLDER):
    """重画全部并写入 folder；返回改动的说明，每张一行。先全部画完才动文件，每个文件整份替换。"""
    pictures = draw_all()
    folder.mkdir(parents=True, exist_ok=True)
    before = stored(folder)
    lines = []
    for name, data in pictures.items():
        if before.get(name) != data:
            replace(folder / name, data)
            lines.append(f"{'更新' if name in before else '新增'} docs/figures/{name}（{len(data)} 字节）")
    for name in before.keys() - pictures.keys():
        lines.append(f"多余 docs/figures/{name}：没有画它的代码，未改动")
    return sorted(lines)


def replace(path, data):
    """把 data 写进 path：先写旁边的临时文件，再整份换上，中途出错不留半份。"""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)  # mkstemp 只给自己读写，图要人人可读
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check(folder=FOLDER):
    """返回问题的列表：缺的、与重画不同的、没有代码的；空列表表示全部一致。"""
    pictures, found = draw_all(), stored(folder)
    fix = "运行 python -m figures 重画"
    problems = []
    for name, data in pictures.items():
        where = f"docs/figures/{name}"
        if name not in found:
            problems.append(f"{where}：文件不存在；{fix}")
        elif found[name] != data:
            problems.append(f"{where}:{first_difference(found[name], data)}；{fix}")
    for name in sorted(found.keys() - pictures.keys()):
        problems.append(f"docs/figures/{name}：没有画它的代码；删去它，或把名字加进 figures/store.py 的 NAMES")
    return problems


def first_difference(old, new):
    """返回“行号：存的是什么，画出的是什么”。"""
    old_lines, new_lines = (data.decode("utf-8", "replace").split("\n") for data in (old, new))
    for i, (was, now) in enumerate(zip(old_lines, new_lines), 1):
        if was != now:
            return f"{i}：存的是 {was.strip()!r}，画出的是 {now.strip()!r}"
    return f"{min(len(old_lines), len(new_lines))}：存的有 {len(old_lines)} 行，画出的有 {len(new_lines)} 行"
