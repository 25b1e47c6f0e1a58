"""Measurements: `python -m bench.convert`, `match_score`, `serve_load`, `viewer`, `first_picture`,
`break_convert`. None of it is installed."""
