"""中文搜索的修补：jieba 的提示，以及 Material 搜索 worker 的两个错误。

- worker 按索引里有的词切分中文查询，但两个循环都少走一步，末尾的词总被丢掉：“混合专家”只搜了“混合”。
- 紧挨着字母的汉字没有与字母分开：“KV缓存”被当成一个词，什么也找不到。

主题升级后原文若找不到，构建给出警告（严格构建即失败），不会悄悄失效。
"""

from __future__ import annotations

import logging

log = logging.getLogger("mkdocs.plugins.livedocs")

#: (worker 里的原文, 改成)
_PATCHES = [
    ("o<t.length;o++)t.slice(s,o)in e&&(n[s]=o-s)", "o<=t.length;o++)t.slice(s,o)in e&&(n[s]=o-s)"),
    ("n[a]&&a<t.length-1&&(i[s++]=a)", "n[a]&&a<t.length&&(i[s++]=a)"),
    (
        's=>[...fe(s,this.index.invertedIndex)].join("* "))',
        's=>" "+[...fe(s,this.index.invertedIndex)].join("* ")+" ")',
    ),
]


def patch_worker(text: str) -> str:
    """修好的 worker；有一处原文找不到时给出警告，原样返回。"""
    for old, _ in _PATCHES:
        if text.count(old) != 1:
            log.warning(
                "搜索 worker 里找不到要修补的原文 %r：主题可能升级了。"
                "在浏览器里搜“混合专家”，确认末尾的词没有被丢掉，再更新 livedocs/search.py",
                old,
            )
            return text
    for old, new in _PATCHES:
        text = text.replace(old, new)
    return text


def quiet_jieba() -> None:
    """jieba 每次载入词典都往 stderr 打印三行；只留警告。"""
    import jieba

    jieba.setLogLevel(logging.WARNING)
