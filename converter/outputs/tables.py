"""The optional tables of a conversion by option name: how each begins and ends, and one rank's part of it."""

from __future__ import annotations

from converter.graphfile.content import GraphContent
from converter.outputs.csv_table import csv_header, csv_lines
from converter.outputs.junit import JUNIT_HEAD, JUNIT_TAIL, junit_suite
from converter.outputs.pairs_lines import pairs_lines

# Option name → (first lines, last lines) around the parts of all ranks.
WANTED_TABLES: dict[str, tuple[str, str]] = {"pairs": ("", ""), "csv": (csv_header(), ""), "junit": (JUNIT_HEAD, JUNIT_TAIL)}


def table_texts(content: GraphContent, names: list[str]) -> dict[str, str]:
    """The text that one step and rank adds to each of the named tables; empty for a single graph."""
    if content.golden is None or content.pairing is None or content.verdicts is None or content.comparison is None:
        return dict.fromkeys(names, "")
    texts = {}
    if "pairs" in names:
        texts["pairs"] = "".join(
            pairs_lines(content.target.tree, content.golden.tree, content.pairing, content.verdicts, content.step, content.rank)
        )
    everything = content.target, content.golden, content.pairing, content.comparison, content.verdicts, content.step, content.rank
    if "csv" in names:
        texts["csv"] = "".join(csv_lines(*everything))
    if "junit" in names:
        texts["junit"] = "".join(junit_suite(*everything))
    return texts
