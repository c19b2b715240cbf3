"""由测试写出的小网站，在本进程里构建。"""

from __future__ import annotations

import logging

import pytest
from site_tools import Project


@pytest.fixture
def project(tmp_path, caplog) -> Project:
    caplog.set_level(logging.INFO, logger="mkdocs")
    return Project(tmp_path)
