"""The ways of matching a person can choose (docs/matching.md): no import, so that processes which match nothing know them too."""

METHODS = ("auto", "exact", "fuzzy", "mapping")
