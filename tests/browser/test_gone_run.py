"""A run that is moved away while it is open: what is changed in it is told as it is, and can be downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from panel_steps import QKV, open_panel, panel
from playwright.sync_api import expect
from viewer import Viewer, run_named


@pytest.fixture
def run(own_logs: str, tmp_path: Path) -> Iterator[str]:
    """The run "qkv", which is there again after the test."""
    name = run_named(own_logs, "qkv")
    yield name
    shutil.move(str(tmp_path / "moved"), os.path.join(own_logs, *name.split("/")))


def test_a_mark_in_a_run_that_is_gone_can_be_downloaded(run: str, qkv: Viewer, own_logs: str, tmp_path: Path) -> None:
    open_panel(qkv, "Expected and ignored")
    shutil.move(os.path.join(own_logs, *run.split("/")), tmp_path / "moved")
    panel(qkv).get_by_role("button", name="Mark", exact=True).click()
    expect(panel(qkv).get_by_role("alert")).to_contain_text("is not there any more: it was deleted, moved or renamed")
    expect(panel(qkv)).to_contain_text("The run is not there any more: kept in this browser only.")
    with qkv.page.expect_download() as download:
        panel(qkv).get_by_role("button", name="Download as YAML").click()
    assert download.value.suggested_filename == f"{run.replace('/', '_')}_step0_rank0.matches.yaml"
    with open(download.value.path(), encoding="utf-8") as stream:
        assert [entry["nodes"] for entry in yaml.safe_load(stream)["triage"]] == [QKV]
    qkv.page.problems.clear()  # type: ignore[attr-defined]  # the browser logs the refusal
