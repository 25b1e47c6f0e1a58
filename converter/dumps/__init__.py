"""Finds dumps below a directory and reads them into columns; nothing here knows a tree or a pair."""
