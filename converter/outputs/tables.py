"""The optional tables of a conversion by option name: how each begins and ends, and one rank's part of it."""

from __future__ import annotations

from converter.graphfile.content import GraphContent

WANTED_TABLES = ("pairs", "csv", "junit")  # option names

# The writers are imported where a table is wanted: what they need takes a tenth of the time of a small conversion.


def table_frame(name: str) -> tuple[str, str]:
    """(first lines, last lines) around the parts of all ranks."""
    if name == "csv":
        from converter.outputs.csv_table import csv_header

        return csv_header(), ""
    if name == "junit":
        from converter.outputs.junit import JUNIT_HEAD, JUNIT_TAIL

        return JUNIT_HEAD, JUNIT_TAIL
    return "", ""


def table_texts(content: GraphContent, names: list[str]) -> dict[str, str]:
    """The text that one step and rank adds to each of the named tables; empty for a single graph."""
    if content.golden is None or content.pairing is None or content.verdicts is None or content.comparison is None:
        return dict.fromkeys(names, "")
    texts = {}
    if "pairs" in names:
        from converter.outputs.pairs_lines import pairs_lines

        trees = content.target.tree, content.golden.tree
        texts["pairs"] = "".join(pairs_lines(*trees, content.pairing, content.verdicts, content.step, content.rank))
    everything = content.target, content.golden, content.pairing, content.comparison, content.verdicts, content.step, content.rank
    if "csv" in names:
        from converter.outputs.csv_table import csv_lines

        texts["csv"] = "".join(csv_lines(*everything))
    if "junit" in names:
        from converter.outputs.junit import junit_suite

        texts["junit"] = "".join(junit_suite(*everything))
    return texts
