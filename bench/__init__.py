"""Measurements: `python -m bench.convert`, `match_score`, `serve_load`, `break_convert`. None of it is installed."""
