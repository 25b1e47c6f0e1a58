"""What is done on one rank, also for the other ranks and steps of the run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from panel_steps import PROJ, QKV, V_PROJ, details_title, match_proj_with_v, open_panel, panel
from playwright.sync_api import Page, expect
from viewer import Viewer, alone, run_named


@pytest.fixture
def own_logs(converted: str, tmp_path: Path) -> str:
    """The run "qkv" with the same graph as ranks 0–2 of step 0 and rank 0 of step 1."""
    logs = shutil.copytree(converted, tmp_path / "logs")
    run = logs / run_named(str(logs), "qkv")
    (run / "manifest.json").unlink()
    (run / "step1").mkdir()
    for name in ("step0/rank1.pb", "step0/rank2.pb", "step1/rank0.pb"):
        shutil.copy(run / "step0" / "rank0.pb", run / name)
    return str(logs)


def file_of(logs: str, name: str) -> Any:
    path = Path(logs, run_named(logs, "qkv"), name)
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None


def test_a_match_is_made_for_the_other_ranks_of_the_step_too(qkv: Viewer, own_logs: str, page: Page, address: str) -> None:
    match_proj_with_v(qkv)
    panel(qkv).get_by_role("button", name="Also for the other 2 ranks").click()
    expect(page.locator(".toast")).to_have_text("Noted for 2 more graphs; each is matched again when it is opened.")
    expect(panel(qkv).get_by_text("Done here.")).to_have_count(0)
    for rank in (1, 2):
        assert file_of(own_logs, f"step0/rank{rank}.matches.yaml")["matches"][0]["golden"] == [V_PROJ]
    assert file_of(own_logs, "step1/rank0.matches.yaml") is None
    page.goto("about:blank")
    other = alone(page, address, run=run_named(own_logs, "qkv"), rank=2, node=PROJ).opened()
    other.wait(f"s.selection && s.selection.name === '{PROJ}'")
    expect(details_title(other)).to_contain_text("linear_proj ↔ v_proj")


def test_a_mark_is_made_in_all_graphs_of_the_run_beside_what_is_there(qkv: Viewer, own_logs: str) -> None:
    there = Path(own_logs, run_named(own_logs, "qkv"), "step1", "rank0.matches.yaml")
    there.write_text('triage:\n- {nodes: "*.norm.*", side: golden, verdict: ignored}\n', encoding="utf-8")
    open_panel(qkv, "Expected and ignored")
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    panel(qkv).get_by_role("button", name="Also for all 3 other graphs").click()
    expect(qkv.page.locator(".toast")).to_contain_text("Noted for 3 more graphs")
    assert [entry["nodes"] for entry in file_of(own_logs, "step1/rank0.matches.yaml")["triage"]] == ["*.norm.*", QKV]


def test_whoever_wants_it_here_only_is_not_asked_again(qkv: Viewer, own_logs: str) -> None:
    match_proj_with_v(qkv)
    panel(qkv).get_by_role("button", name="Only here").click()
    expect(panel(qkv).get_by_text("Done here.")).to_have_count(0)
    assert file_of(own_logs, "step0/rank1.matches.yaml") is None
