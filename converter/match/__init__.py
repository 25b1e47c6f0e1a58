"""Which node of target is which node of golden: by hand, by mapping file, automatically (docs/matching.md, docs/mapping.md)."""
