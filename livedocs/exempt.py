"""不是结果的数：版本、编号、名字、引用、日期与用时。核对正文的数字时跳过它们。

每一种都只在后面不是单位时才算：`PyTorch 2.13` 是版本，`PyTorch 3.7 秒` 是结果；`图 3.1` 是编号，`图 12.5 %` 不是。
名单之外的名字写成行内代码，或加进名单。
"""

from __future__ import annotations

import re

#: 紧跟在数后面，说明这个数是量出来或数出来的。
UNIT = (
    r"[\d.]*[ \u00a0]?(?:[毫微纳]?秒|分钟|小时|百分点|[倍个万亿步次行张名维轮层×]|[xX](?![A-Za-z0-9])|[KMGTP]i?B(?![A-Za-z])|"
    r"[mnµμ]?s(?![A-Za-z])|[KMGTP]?FLOPS|tokens?(?![A-Za-z])|词元|[%％‰])"
)
_YEAR = r"(?:19[5-9]\d|20[0-3]\d)(?!\d|\.\d)"
_GROWN = "Python|CPython|PyTorch|torch|NumPy|numpy|matplotlib|TensorFlow|transformers|CUDA|pip|MkDocs|Windows|macOS|Android|iOS|ASCII|SHA"
_VERSIONED = (
    r"JAX|vLLM|cuDNN|Material|Pyodide|KaTeX|Zensical|pytest|Jupyter|Node(?:\.js)?|CodeMirror|esbuild|GCC|CMake|Ubuntu|Debian|Chrome|"
    "Chromium|Firefox|Safari|Unicode|UTF|HTML|PEP|RFC|ISO|IEEE|HTTP|Apache|GPL|BY|BY-SA"
)
_VERSION = r"(?:[ -]?v?|[ ]?(?:[<>]=?|[≥≤]|==?|[（(])[ ]?)"
_MODELS = "GPT|Llama|LLaMA|Qwen|Phi|Gemma|Mistral|DeepSeek|Claude|Gemini|RTX|GTX|RoFormer|MiniMind"

#: 软件与标准的版本、编号。`_GROWN` 早已过了 1.0，`PyTorch 0.97` 是结果。
VERSIONS = re.compile(
    rf"(?<![A-Za-z])(?:(?:{_GROWN}){_VERSION}(?!0\.)|(?:{_VERSIONED}){_VERSION}|v|U\+|C\+\+)(?=\d)"
    rf"(?P<major>\d+)(?:\.\d+)*\+?(?!{UNIT})(?:[ ]?[–、到至和与或~-][ ]?(?P=major)\.\d+(?:\.\d+)*\+?(?!{UNIT}))*"
)
#: 模型、数据集与会议的名字，公开的编号。
NAMES = re.compile(
    rf"(?<![A-Za-z])(?:{_MODELS})[ ]?v?\d+(?:\.\d+)?(?![\d.])(?:-\w[\w.-]*)?(?!{UNIT})"
    rf"|(?<![A-Za-z0-9])[A-Z][A-Za-z]+\d*(?:-[A-Za-z]+)*[-/]v?(?!0\.)\d[\w./-]*(?!{UNIT})"
    r"|(?<![\w])[A-Z][A-Za-z]*-[A-Z]/\d+"
    r"|arXiv[: ]\d{4}\.\d{4,5}|\[\d{4}\.\d{5}(?=[ \]])|DOI[: ]*10\.\d+/[\w./-]+|ISBN[: ]*[\d-]+|(?:提交|commit)[ ][0-9a-f]{7,40}\b"
)
#: 章节、公式、图表、页与行的编号，issue 的编号。“代表”“方式”“比例”里的字不算编号的开头。
REFERENCES = re.compile(
    r"(?:issue|PR)[ ]\d+|(?<!#)#\d+"
    r"|第[ ]?[A-Z]?[1-9]\d?(?:\.\d{1,2})*(?:[ ]?[、和与到至–~-][ ]?\d+(?:\.\d+)*)*(?=[ ]?[节章课讲页题图表式行列])|第[ ]?[1-9]\d{2,3}(?=[ ]?[页行])"
    rf"|(?:§|附录|(?:(?<![\u4e00-\u9fff])|(?<=[见如由和与从在的及]))(?:[节章图表式例]|算法|公式|定理|练习|习题|步骤|课时))[ ]?[A-Z]?[1-9]\d?(?:[.-]\d{{1,2}})*(?![\d.])(?!{UNIT})"
    r"|(?:公式|[见如由和与从在的及]式)[ ]?[（(]\d{1,2}(?:\.\d{1,2})?[）)]"
    r"|(?<![\d.])[1-9]\d?(?:\.\d{1,2})+[ ]?(?:节(?![省点约])|章|课|小节)"
)
#: 日期、时刻、作者与年份、学习的用时，本机的端口，像素。
TIMES = re.compile(
    rf"(?<!\d){_YEAR}(?=[ ]?年|-(?:0[1-9]|1[0-2])(?!\d)|/\d\d/\d\d|[ ]?[–~到至-][ ]?(?:19|20)\d\d[ ]?年)(?:[-/]\d\d){{0,2}}(?!\d)"
    rf"|(?:et al\.|[A-Za-z][ ]?等人?)[，, （(]*{_YEAR}"
    rf"|(?<![A-Za-z])(?!(?:Step|Epoch|Loss|Batch|Vocab|Hidden|Tokens?)[ ])[A-Z][A-Za-z]+[ ]{_YEAR}(?!{UNIT})"
    rf"|[（(][A-Z][A-Za-z .&]*[,，][ ]?{_YEAR}[）)]|(?<=[A-Za-z》\d])[ ]?[（(]{_YEAR}[）)]"
    r"|(?<!\d)(?:[01]?\d|2[0-4]):[0-5]\d(?!\d)|(?<!\d)(?:16:9|4:3)(?!\d)"
    r"|(?<![\d.])\d{1,3}(?:[ ]?[–~到至-][ ]?\d{1,3})?[ ]?分钟|(?<![\d.])\d{1,2}(?:\.5)?(?:[ ]?[–~到至-][ ]?\d{1,2}(?:\.5)?)?[ ]?小时"
    r"|(?:127\.0\.0\.1|localhost):\d{2,5}|端口[是为用]?[ ]?\d{2,5}|(?<![\d.])\d{1,4}[ ]?px"
)
#: 标题开头与链接文字里的章节号，例如 `## 3.1 …`、`[3.2 多头](…)`、`[实验 01](…)`。
HEADING = re.compile(rf"\s*#{{1,6}}\s+[1-9]\d?(?:\.\d{{1,2}})*\.?(?!{UNIT})(?=\s+(?!x[ ]|(?:[KMGT]i?B|ms)(?![A-Za-z]))[^\s头位分的])")
LINKED = re.compile(
    rf"\[(?:(?:实验|第)[ ]?\d{{1,2}}(?:\.\d{{1,2}})*|[1-9]\d?(?:\.\d{{1,2}})+)(?!{UNIT})(?=(?:[ ](?!的)[^\]]*)?\]\([^)]*\.md)"
)
#: 全部，依次。
EVERYWHERE = (TIMES, VERSIONS, NAMES, REFERENCES)
