"""课程代码的测试共用的设置。"""

import sys

import pytest


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """张量都很小，多线程只会互相等待。只用标准库的测试没有导入 torch，也不需要它。"""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
    else:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(threads)
