"""第 5 章的训练脚本：语料、词表、批、训练的记录。"""

import re

import pytest
import torch
from lesson_files import load

m = load("05-train-poems-demo.py")
SEEN, UNSEEN = m.poems()
VOCABULARY = m.Vocabulary(SEEN + UNSEEN)


def test_corpus_is_what_the_page_says():
    texts = SEEN + UNSEEN
    assert (len(SEEN), len(UNSEEN), len(set(texts))) == (80, 10, 90)
    assert len(m.POEMS.encode("utf-8")) < 200_000
    for text in texts:
        assert re.fullmatch(r"(?:[\u4e00-\u9fff]{5}[，。？！])+", text), text
    assert "The MIT License (MIT)" in open(m.__file__, encoding="utf-8").read()


def test_held_out_poems_share_no_verse_with_the_others():
    verses = [{v for text in part for v in re.split("[，。？！]", text) if v} for part in (SEEN, UNSEEN)]
    assert not verses[0] & verses[1]


def test_vocabulary_round_trip_and_refusals():
    for text in SEEN:
        assert VOCABULARY.decode(VOCABULARY.encode(f"\n{text}\n")) == f"\n{text}\n"
    assert VOCABULARY.characters[0] == "\n" and len(set(VOCABULARY.characters)) == len(VOCABULARY)
    with pytest.raises(ValueError, match="词表里没有这 2 个字：A龘"):
        VOCABULARY.encode("春A龘")
    with pytest.raises(ValueError, match=f"编号 {len(VOCABULARY)} 不在 0 到 {len(VOCABULARY) - 1} 之间"):
        VOCABULARY.decode([1, len(VOCABULARY)])


def test_batch_pads_on_the_right_and_ignores_the_padding():
    texts = ["春春", "春", "春春春"]
    input_ids, labels = m.make_batch(texts, VOCABULARY)
    spring = VOCABULARY.ids["春"]
    assert input_ids.tolist() == [[0, spring, spring, 0, 0], [0, spring, 0, 0, 0], [0, spring, spring, spring, 0]]
    assert (labels == -100).sum(dim=1).tolist() == [1, 2, 0]
    kept = labels != -100
    assert torch.equal(labels[kept], input_ids[kept])
    with pytest.raises(ValueError, match="这一批有 0 首诗"):
        m.make_batch([], VOCABULARY)


def test_training_is_repeatable_and_records_every_step_asked_for():
    def history():
        torch.manual_seed(0)
        model = m.DecoderModel(m.ModelConfig(len(VOCABULARY), 16, 1, 2, 1, 8, 16))
        return m.train(model, VOCABULARY, SEEN[:6], UNSEEN[:2], steps=5, batch_size=3, every=2)

    first = history()
    assert [record.step for record in first] == [0, 2, 4, 5]
    assert first == history()
    assert first[-1].seen < first[0].seen


@pytest.mark.parametrize("size", ["steps", "batch_size", "every"])
def test_training_refuses_empty_work(size):
    model = m.DecoderModel(m.ModelConfig(len(VOCABULARY), 16, 1, 2, 1, 8, 16))
    with pytest.raises(ValueError, match=f"{size} 应是正整数，得到 0"):
        m.train(model, VOCABULARY, SEEN, UNSEEN, **{size: 0})


def test_verse_shares():
    assert m.verse_shares([], SEEN) == (0.0, 0.0)
    assert m.verse_shares(["春眠不觉晓，处处闻。"], ["春眠不觉晓，处处闻啼鸟。"]) == (0.5, 0.5)
