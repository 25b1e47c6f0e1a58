"""What is done on one rank, also for the other ranks and steps of the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from panel_steps import PROJ, QKV, V_PROJ, details_title, match_proj_with_v, matches_file, open_panel, opened_at_cause, panel
from playwright.sync_api import Page, expect
from viewer import Viewer, in_tensorboard, run_named


@pytest.fixture
def several(page: Page, address: str, own_logs: str) -> Viewer:
    """Rank 0 of step 0 of the run "several": the same graph is ranks 0–2 of step 0 and rank 0 of step 1."""
    return opened_at_cause(page, address, own_logs, "several")


def test_a_match_is_made_for_the_other_ranks_of_the_step_too(several: Viewer, own_logs: str, page: Page, address: str) -> None:
    match_proj_with_v(several)
    panel(several).get_by_role("button", name="Also for the other 2 ranks").click()
    expect(several.frame.locator(".toast")).to_have_text("Noted for 2 more graphs; each is matched again when it is opened.")
    expect(panel(several).get_by_text("Done here.")).to_have_count(0)
    for rank in (1, 2):
        assert matches_file(own_logs, "several", f"step0/rank{rank}")["matches"][0]["golden"] == [V_PROJ]
    assert matches_file(own_logs, "several", "step1/rank0") is None
    other = in_tensorboard(page, address, run=run_named(own_logs, "several"), rank=2, node=PROJ).opened()
    other.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(details_title(other)).to_contain_text("linear_proj ↔ v_proj")


def test_a_mark_is_made_in_all_graphs_of_the_run_beside_what_is_there(several: Viewer, own_logs: str) -> None:
    there = Path(own_logs, run_named(own_logs, "several"), "step1", "rank0.matches.yaml")
    there.write_text('triage:\n- {nodes: "*.norm.*", side: golden, verdict: ignored}\n', encoding="utf-8")
    open_panel(several, "Expected and ignored")
    panel(several).get_by_role("button", name="Mark", exact=True).click()
    panel(several).get_by_role("button", name="Also for all 3 other graphs").click()
    expect(several.frame.locator(".toast")).to_contain_text("Noted for 3 more graphs")
    assert [entry["nodes"] for entry in matches_file(own_logs, "several", "step1/rank0")["triage"]] == ["*.norm.*", QKV]


def test_whoever_wants_it_here_only_is_not_asked_again(several: Viewer, own_logs: str) -> None:
    match_proj_with_v(several)
    panel(several).get_by_role("button", name="Only here").click()
    expect(panel(several).get_by_text("Done here.")).to_have_count(0)
    assert matches_file(own_logs, "several", "step0/rank1") is None
