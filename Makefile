# make serve   预览网站        make test   运行全部检查
# make watch   预览并随时核对      make update 把真实输出写回页面
# make build   严格构建到 site/
#
# 只用各平台的 make（含 macOS 自带的 3.81）都懂的写法；准备环境的细节在 tools/env.py。

VENV   ?= .venv
PORT   ?= 8000
# 传给 pytest 的参数，例如 make test ARGS="docs/labs -x"
ARGS   ?=
PYTHON ?= python3
ifneq ($(origin PYTHON),file)
# 明确指定了 PYTHON：已有的虚拟环境若是别的版本，就重建。
EXPLICIT := --explicit
endif

export VENV
# 主题的升级广告与 pip 的版本提示都不是本站的输出。
export NO_MKDOCS_2_WARNING := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

RUN = $(VENV)/bin/python

.PHONY: help serve watch build pdf test update python port site-env test-env

help:
	@echo "make serve    预览网站：http://127.0.0.1:$(PORT)（PORT= 换端口）"
	@echo "make watch    预览，并且一保存就核对用到那个文件的页面"
	@echo "make test     运行全部检查（ARGS= 传给 pytest）"
	@echo "make build    严格构建到 site/"
	@echo "make pdf      整本书的 PDF，写到 site/downloads/book.pdf（要有 Chromium）"
	@echo "make update   把真实输出写回页面（ARGS= 可只写一页）"
	@echo "PYTHON= 指定解释器，需要 3.11 或更新。"

serve: port site-env
	@$(PYTHON) tools/env.py port "$(PORT)"
	@exec $(RUN) -m mkdocs serve --dev-addr "127.0.0.1:$(PORT)"

watch: port test-env
	@exec env LIVEDOCS_WATCH=1 $(RUN) -m mkdocs serve --dev-addr "127.0.0.1:$(PORT)"

build: site-env
	@exec $(RUN) -m mkdocs build --strict --site-dir site

pdf: test-env
	@$(RUN) -m mkdocs build --strict --site-dir site
	@exec $(RUN) -m livedocs.book site site/downloads/book.pdf

test: test-env
	@exec $(RUN) -m pytest -n auto $(ARGS)

update: test-env
	@exec $(RUN) -m pytest --update-docs $(if $(ARGS),$(ARGS),docs)

port: python
	@$(PYTHON) tools/env.py port "$(PORT)"

site-env: python
	@$(PYTHON) tools/env.py site $(EXPLICIT)

test-env: python
	@$(PYTHON) tools/env.py test $(EXPLICIT)

python:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	  echo "找不到 Python：$(PYTHON)。请安装 Python 3.11 或更新的版本，或用 PYTHON= 指定，例如 make serve PYTHON=python3.12。" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "需要 Python 3.11 或更新的版本，而 $(PYTHON) 是：`"$(PYTHON)" --version 2>&1`。请用 PYTHON= 指定，例如 make serve PYTHON=python3.12。" >&2; exit 1; }
