"""Conversions that were started in the browser: graph-convert as a process, its progress, its end."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Optional

from tb_graph_ascend.work_process import environment

PROGRESS = "PROGRESS: "
KEPT = 20  # finished conversions that can still be asked about
PATIENCE = 10.0  # seconds between asking a process to end and ending it


@dataclass
class Conversion:
    """One process. Its fields are written by the thread that reads it."""

    id: str
    process: subprocess.Popen[bytes]
    folder: tempfile.TemporaryDirectory[str]  # mapping and matches that came with the request
    state: str = "running"  # running | done | failed | cancelled
    percent: int = 0
    directory: str = ""  # what was written
    error: str = ""
    said: Any = ""  # the error as converter/messages.py gives it to the viewer
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=40))


class Conversions:
    """All conversions of this server, one at a time. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Conversion] = {}

    def start(self, arguments: list[str], files: dict[str, str]) -> Optional[Conversion]:
        """Run graph-convert; None while another one is running.

        Args:
            arguments: the command line without the program; "{folder}" stands for a folder with `files` (name → text).
        """
        with self._lock:
            if any(known.state == "running" for known in self._known.values()):
                return None
            folder = tempfile.TemporaryDirectory(prefix="tb_graph_ascend_")
            for name, text in files.items():
                with open(os.path.join(folder.name, name), "w", encoding="utf-8") as stream:
                    stream.write(text)
            options = [part.replace("{folder}", folder.name) for part in arguments]
            command = [sys.executable, "-m", "converter.cli", *options, "-progress_log"]
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**environment(), "PYTHONUNBUFFERED": "1"},
            )
            conversion = Conversion(secrets.token_urlsafe(12), process, folder)
            self._known[conversion.id] = conversion
            while len(self._known) > KEPT:
                self._known.pop(next(iter(self._known)))
        threading.Thread(target=_follow, args=(conversion,), daemon=True).start()
        return conversion

    def get(self, identity: str) -> Optional[Conversion]:
        """The conversion of that id."""
        with self._lock:
            return self._known.get(identity)

    def running(self) -> Optional[Conversion]:
        """The one that is under way."""
        with self._lock:
            return next((known for known in self._known.values() if known.state == "running"), None)

    def cancel(self, identity: str) -> Optional[Conversion]:
        """Ask a conversion to end; graph-convert then leaves nothing half-written."""
        conversion = self.get(identity)
        if conversion is not None and conversion.state == "running":
            conversion.state = "cancelled"
            conversion.process.send_signal(signal.SIGTERM)
            threading.Timer(PATIENCE, _end, (conversion.process,)).start()
        return conversion


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()


def _follow(conversion: Conversion) -> None:
    errors: deque[str] = deque(maxlen=40)
    reader = threading.Thread(target=_read_errors, args=(conversion, errors), daemon=True)
    reader.start()
    last = ""
    assert conversion.process.stdout is not None
    for raw in conversion.process.stdout:
        line = raw.decode("utf-8", "replace").rstrip()
        if line.startswith(PROGRESS):
            _take_progress(conversion, line[len(PROGRESS) :])
        elif line:
            last = line
    code = conversion.process.wait()
    reader.join(1)
    conversion.folder.cleanup()
    if conversion.state == "cancelled":
        return
    if code == 0 or (code in (1, 3) and os.path.isdir(last)):
        conversion.percent, conversion.directory, conversion.state = 100, last, "done"
    else:
        conversion.error = conversion.error or "\n".join(errors) or f"graph-convert ended with code {code}"
        conversion.state = "failed"


def _read_errors(conversion: Conversion, errors: deque[str]) -> None:
    assert conversion.process.stderr is not None
    for raw in conversion.process.stderr:
        line = raw.decode("utf-8", "replace").rstrip()
        if line:
            errors.append(line)
            conversion.lines.append(line)


def _take_progress(conversion: Conversion, text: str) -> None:
    try:
        content: Any = json.loads(text)
    except ValueError:
        return
    if isinstance(content, dict):
        conversion.percent = int(content.get("current_progress") or 0)
        conversion.error = str(content.get("error_msg") or "")
        conversion.said = content.get("error") or ""
