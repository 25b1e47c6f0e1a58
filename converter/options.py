"""What one conversion was asked to do, as plain values."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """Everything that decides what a conversion writes. Paths are as the user gave them."""

    target: str
    golden: str = ""  # empty: build a single graph
    output: str = "output"
    mapping: str = ""  # layer-mapping file; empty: none
    match: str = "auto"  # auto | exact | fuzzy | mapping
    policy: str = "default"  # name of a shipped policy, or a file
    overflow_check: bool = False
    matches: str = ""  # manual matches file
    jobs: int = 0  # processes; 0 = one a core
    engine: str = "local"  # local | ray
    report: str = ""
    pairs: str = ""
    csv: str = ""
    junit: str = ""
    timings: str = ""
    fail_on: str = ""  # error | warning | unmatched
    command: list[str] = field(default_factory=list)  # for the report and the file's provenance


def as_text(path: str) -> str:
    """A path as files of results name it: bytes that are no UTF-8, which Python keeps as half surrogates, become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")
