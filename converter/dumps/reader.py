"""Reads a dump (a rank directory) into columns."""

from __future__ import annotations

from converter.dumps.reference import read_dump

__all__ = ["read_dump"]
