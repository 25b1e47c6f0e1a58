"""A graph-view server of its own for a measurement, on this machine only."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def serving(directory: str) -> Iterator[tuple[str, int]]:
    """Yields the server's address ("http://127.0.0.1:1234/") and process; ends it afterwards."""
    command = [sys.executable, "-m", "tb_graph_ascend.view_cli", "serve", directory, "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1], server.pid
    finally:
        server.terminate()
        server.wait()
