"""From dump directories to graph files: read, tree, match, compare, judge, write (see pipeline.py)."""
