"""What has been found about every row so far: a status, a mask of reasons, notes, and which rows are still to be judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.judge.policy import Policy
from converter.judge.reasons import Reason
from converter.judge.verdict import Note, Status

Flags = NDArray[np.bool_]

_STATUS_OF = {"note": Status.PASS, "warning": Status.WARNING, "error": Status.ERROR, "not_comparable": Status.NOT_COMPARABLE}


class Marks:
    """Columns over rows that the tests of rows.py fill one after the other; a row keeps the worst status that it was given."""

    def __init__(self, rows: int, policy: Policy) -> None:
        self.status = np.zeros(rows, np.uint8)
        self.reasons = np.zeros(rows, np.uint32)
        self.notes: list[Note] = []
        self.open: Flags = np.ones(rows, np.bool_)  # no test has settled the row
        self._severities = policy.severities

    def flag(self, where: Flags, reason: Reason) -> None:
        """Give rows a reason but no status."""
        self.reasons[where] |= np.uint32(1 << reason.code)

    def mark(self, where: Flags, reason: Reason, severity: str | None = None) -> None:
        """Give rows a reason and the status that it leads to: by `severity`, else by the policy."""
        self.flag(where, reason)
        self._at_least(where, _STATUS_OF[severity or self._severities[reason.id]])

    def passed(self, where: Flags) -> None:
        """Rows in which something was compared and agreed, whatever else is found."""
        self._at_least(where, Status.PASS)

    def settle(self, where: Flags, reason: Reason) -> None:
        """Mark rows and keep them from every later test."""
        self.mark(where, reason)
        self.close(where)

    def close(self, where: Flags) -> None:
        """Keep rows from every later test."""
        self.open = self.open & ~where

    def _at_least(self, where: Flags, status: Status) -> None:
        self.status[where] = np.maximum(self.status[where], status)
