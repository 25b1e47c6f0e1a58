"""Progress of a conversion: a bar on a terminal, plain lines otherwise, the peer's machine-readable lines if asked for."""

from __future__ import annotations

import json
import sys
from typing import Any, Optional

from converter.messages import Message, as_json


class Progress:
    """Counts finished ranks; where one is converted at a time, also how far it is."""

    def __init__(self, machine_readable: bool = False) -> None:
        self._total, self._done, self._machine = 1, 0, machine_readable
        self._shown = -1
        self._bar: Optional[Any] = None
        if not machine_readable and sys.stderr.isatty():
            from tqdm import tqdm  # imported only for a terminal: start-up time

            self._bar = tqdm(total=100, unit="%", bar_format="{desc} {bar} {percentage:3.0f}% {elapsed}", file=sys.stderr, leave=False)

    def expect(self, total: int) -> None:
        """So many ranks will be done."""
        self._total = max(total, 1)

    def update(self, stage: str, share: float) -> None:
        """The current rank is in `stage`, `share` of it is done."""
        percent = int(100 * (self._done + min(max(share, 0.0), 1.0)) / self._total)
        if self._bar is not None:
            self._bar.set_description_str(stage)
            self._bar.update(max(0, percent - self._shown if self._shown >= 0 else percent))
        elif self._machine and percent != self._shown:
            self._line(percent, running=True)
        self._shown = max(percent, self._shown)

    def rank_done(self, text: str) -> None:
        """One more rank is finished; an empty text is not shown."""
        self._done += 1
        if text and self._bar is None and not self._machine:
            print(text, file=sys.stderr, flush=True)
        self.update("", 0.0)

    def close(self, error: str = "") -> None:
        """The end: successful if `error` is empty."""
        if self._bar is not None:
            self._bar.close()
        if self._machine:
            self._line(100 if not error else max(self._shown, 0), running=False, error=error)

    @staticmethod
    def _line(percent: int, running: bool, error: str = "") -> None:
        content = {"current_progress": percent, "process_running": running, "error_msg": error}
        if isinstance(error, Message):
            content["error"] = as_json(error)  # for the viewer
        try:
            print(f"PROGRESS: {json.dumps(content, ensure_ascii=False)}", flush=True)
        except BrokenPipeError:  # nobody listens any more: no reason to stop
            pass
