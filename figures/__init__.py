"""站内的示意图：一张图一个模块，draw() 返回整份 SVG 的文字。

python -m figures           重画 docs/figures/*.svg，列出改动了哪些
python -m figures --check   重画并与存下的文件比较，不同就报错，什么也不写
"""
