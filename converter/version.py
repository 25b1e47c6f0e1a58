"""The one place where the project's version stands; setup.py reads it from here."""

from __future__ import annotations

VERSION = "0.1.0"
TOOL = f"tb_graph_ascend {VERSION}"  # what graph files and reports name as their writer
