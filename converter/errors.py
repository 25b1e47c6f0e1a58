"""The one error that a person can do something about: its text is shown as it is, without a traceback."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or usage. The text says what is wrong, where (file, key, line) and what to do."""
