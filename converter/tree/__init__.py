"""From the names and parents of a dump to a tree whose nodes are numbered in pre-order."""
