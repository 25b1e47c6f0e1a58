"""Reasons in words: every sentence about a row names what it is about, in both languages."""

from __future__ import annotations

import re

import pytest

from converter.judge import reasons
from converter.judge.sentences import notes_by_row, row_arguments, row_sentences
from tests.conversions import Result, result

COMPARISONS = (
    ("megatron_vs_hf/megatron", "megatron_vs_hf/hf"),
    ("megatron_vs_hf/megatron_bug_nan", "megatron_vs_hf/hf"),
    ("megatron_vs_hf/megatron_tp2", "megatron_vs_hf/hf"),
    ("mindspore_vs_torch/mindspore", "mindspore_vs_torch/torch"),
    ("dist_tp2pp2/target", "dist_tp2pp2/golden"),
)


@pytest.mark.parametrize(("target", "golden"), COMPARISONS)
@pytest.mark.parametrize("chinese", (False, True))
def test_no_sentence_has_a_gap(target: str, golden: str, chinese: bool) -> None:
    found = result(target, golden)
    notes = notes_by_row(found.verdicts.notes)
    columns = (found.verdicts.row_reasons, found.verdicts.row_statistic, found.verdicts.row_error, found.verdicts.row_tolerance)
    sentences = {text for row in range(found.comparison.rows) for text in row_sentences(found.comparison, *columns, notes, row, chinese)}
    assert sentences
    assert [text for text in sentences if "{" in text] == []


@pytest.mark.parametrize("reason", (reasons.DIFFERENT_KIND, reasons.IGNORED), ids=lambda reason: reason.id)
def test_a_chinese_sentence_has_chinese_words(reason: reasons.Reason) -> None:
    texts = [text for target, golden in COMPARISONS for text in _in_chinese(result(target, golden), reason)]
    assert texts
    assert [text for text in texts if re.search(r"one of|alike|argument|memory|number|object", text)] == []


def _in_chinese(found: Result, reason: reasons.Reason) -> list[str]:
    notes = notes_by_row(found.verdicts.notes)
    columns = (found.verdicts.row_statistic, found.verdicts.row_error, found.verdicts.row_tolerance)
    rows = [row for row in range(found.comparison.rows) if int(found.verdicts.row_reasons[row]) >> reason.code & 1]
    arguments = [row_arguments(found.comparison, *columns, row, reason, notes.get((row, reason.code))) for row in rows]
    return [reason.zh.format(**given) for given in arguments]
