"""让 import figures 找到仓库根目录下的包（pytest 不把根目录放进模块路径）。"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
