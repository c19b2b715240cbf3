"""主题的框架里没有名字、键盘够不着的几个部件：构建时补上读屏软件要念的名字和焦点。

主题的模板里它们只有图标。窄屏上打开目录与搜索的是 `<label>`（没有脚本也能用），
本来只能用鼠标点；有了 `tabindex`，回车由主题、空格由 `web/src/keys/watch.js` 变成点击。
"""

from __future__ import annotations

#: 主题模板里的开始标记 → 补全之后的。每页各出现一次。
PARTS = {
    '<div class="md-search" data-md-component="search" role="dialog">': (
        '<div class="md-search" data-md-component="search" role="dialog" aria-label="搜索">'
    ),
    '<label class="md-header__button md-icon" for="__drawer">': (
        '<label class="md-header__button md-icon" for="__drawer" tabindex="0" title="打开目录">'
    ),
    '<label class="md-header__button md-icon" for="__search">': (
        '<label class="md-header__button md-icon" for="__search" tabindex="0" title="打开搜索">'
    ),
    # 收起时高度是 0，键盘停在上面什么也看不见；里面的结果自己能用键盘选。
    '<div class="md-search__scrollwrap" tabindex="0" data-md-scrollfix>': '<div class="md-search__scrollwrap" data-md-scrollfix>',
}


def name_parts(page: str) -> str:
    """`page`（整页 HTML）里的这些部件补上名字；没有的部件（例如没有启用搜索）不管。"""
    for bare, named in PARTS.items():
        page = page.replace(bare, named, 1)
    # 主题给不能得到焦点的部件写了空的 tabindex，不合标准；没有它是一样的。
    return page.replace(' tabindex="">', ">")
