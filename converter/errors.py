"""The one error that is meant for the user: bad input or usage, told in one sentence."""

from __future__ import annotations


class UserError(Exception):
    """What is wrong, where (file, key, position) and what to do about it. The command line prints it and exits with 2."""

    @property
    def told(self) -> str:
        """The sentence; a Message (messages.py) where it has a code, which str(error) loses."""
        return str(self) if not self.args or not isinstance(self.args[0], str) else self.args[0]
