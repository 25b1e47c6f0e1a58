"""Measurements: `python -m bench.convert`, `python -m bench.match_score`. None of it is installed."""
