"""Damaged dumps: whatever is in the files, graph-convert ends with a sentence and an exit code, and leaves nothing half-written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.break_convert import run_case, sources

COUNT = 80  # bench/break_convert.py runs as many as wanted


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return sources(15)


@pytest.mark.parametrize("start", range(0, COUNT, 20))
def test_random_damage_never_breaks_the_converter(tmp_path: Path, documents: list[dict[str, Any]], start: int) -> None:
    for number in range(start, start + 20):
        folder = tmp_path / str(number)
        folder.mkdir()
        code, fault = run_case(number, documents, folder)
        assert not fault, f"python -m bench.break_convert --only {number}: {fault}"
        assert code in (0, 2, 3)
