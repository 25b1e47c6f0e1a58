"""What a policy file changes in the verdicts of real dumps."""

from __future__ import annotations

import numpy as np
import pytest

from converter.judge.reasons import CATALOGUE
from converter.judge.verdict import Cause, Status
from tests.conversions import Result, result

MEGATRON, HUGGING_FACE = "megatron_vs_hf/megatron_L0", "megatron_vs_hf/hf_L0"
BUG, CLEAN = "megatron_vs_hf/megatron_bug_qkv_bias", "megatron_vs_hf/hf"
CODE = {reason.id: reason.code for reason in CATALOGUE}


@pytest.fixture
def judged(tmp_path):
    """Judge two sides under `extends: default` and what a test adds."""
    def judge(target: str, golden: str, text: str) -> Result:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.yaml"
        path.write_text(f"extends: default\n{text}", encoding="utf-8")
        return result(target, golden, policy=str(path))

    return judge


def rows(found: Result, reason: str) -> np.ndarray:
    """Rows that bear a reason."""
    return np.flatnonzero(found.verdicts.row_reasons >> np.uint32(CODE[reason]) & np.uint32(1))


def status_of(found: Result, reason: str) -> set[int]:
    return set(found.verdicts.row_status[rows(found, reason)].tolist())


def culprits(found: Result, path: str) -> set[int]:
    """Statuses of the rows of one target module."""
    names = [found.target.tree.names[node] for node in found.pairing.first_target_nodes().tolist()]
    pairs = np.repeat(np.arange(found.pairing.count), np.diff(found.comparison.row_end, prepend=0))
    mine = np.array([path in names[pair] for pair in pairs.tolist()])
    return set(found.verdicts.row_status[mine].tolist())


@pytest.mark.parametrize(
    ("severity", "status"), [("note", Status.PASS), ("warning", Status.WARNING), ("not_comparable", Status.NOT_COMPARABLE)])
def test_a_severity_decides_what_another_layout_leads_to(judged, severity, status):
    found = judged(MEGATRON, HUGGING_FACE, f"severities: {{layout: {severity}}}")
    assert len(rows(found, "layout")) > 20
    assert status_of(found, "layout") == {int(status)}


def test_without_a_policy_of_its_own_the_faulty_run_has_errors():
    assert result(BUG, CLEAN).count(Status.ERROR) > 10


def test_statistics_as_notes_leave_neither_warnings_nor_errors_of_statistics(judged):
    found = judged(BUG, CLEAN, "severities: {statistics: note}")
    assert len(rows(found, "statistics")) > 10
    assert status_of(found, "statistics") == {int(Status.PASS)}


def test_endless_tolerances_find_no_statistic_that_differs(judged):
    assert len(rows(judged(BUG, CLEAN, "tolerances: {float32: {warning: .inf, error: .inf}}"), "statistics")) == 0


def test_a_rule_speaks_for_the_nodes_it_names_and_for_no_others(judged):
    text = "rules: [{nodes: 'layers\\.2\\.self_attention\\.linear_qkv\\.', warning: .inf, error: .inf}]"
    before, after = result(BUG, CLEAN), judged(BUG, CLEAN, text)
    assert int(Status.ERROR) in culprits(before, "layers.2.self_attention.linear_qkv.")
    assert culprits(after, "layers.2.self_attention.linear_qkv.") <= {int(Status.PASS), int(Status.NONE), int(Status.NOT_COMPARABLE)}
    assert culprits(after, "layers.2.self_attention.linear_proj.") == culprits(before, "layers.2.self_attention.linear_proj.")


def test_the_last_of_several_rules_holds(judged):
    text = "rules:\n- {nodes: linear_qkv, error: .inf, warning: .inf}\n- {nodes: 'layers\\.2\\.', error: 1.0e-4, warning: 1.0e-5}"
    assert int(Status.ERROR) in culprits(judged(BUG, CLEAN, text), "layers.2.self_attention.linear_qkv.")


def test_an_ignored_node_is_not_judged(judged):
    found = judged(BUG, CLEAN, "ignore: ['layers\\.2\\.self_attention\\.linear_qkv\\.']")
    assert culprits(found, "layers.2.self_attention.linear_qkv.") == {int(Status.NONE)}


def test_a_statistic_that_is_switched_off_is_never_the_worst(judged):
    before = result(BUG, CLEAN).verdicts.row_statistic
    after = judged(BUG, CLEAN, "statistics: {Norm: .inf}").verdicts
    assert 3 in before[np.flatnonzero(result(BUG, CLEAN).verdicts.row_status == Status.ERROR)]
    assert 3 not in after.row_statistic[np.flatnonzero(after.row_status == Status.ERROR)]


def test_a_gain_decides_what_is_called_amplified(judged):
    few, many = (judged(BUG, CLEAN, f"gain: {gain}").verdicts.cause for gain in (1000, 1))
    assert (few == Cause.AMPLIFIED).sum() < (many == Cause.AMPLIFIED).sum()
