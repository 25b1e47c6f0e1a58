"""Writes and reads graph files (docs/graph_file.md)."""
