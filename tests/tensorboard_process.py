"""A real tensorboard process on a free loopback port, with the plugin of this project in it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 60  # seconds until the server must answer


@contextlib.contextmanager
def running_tensorboard(*arguments: str, prefix: str = "", python_path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yields the base address ("http://127.0.0.1:1234" + prefix); ends the process afterwards.

    Directories of `python_path` are searched for modules before everything else.
    """
    port = free_port()
    command = [sys.executable, "-m", "tensorboard.main", "--host", "127.0.0.1", "--port", str(port), *arguments]
    if prefix:
        command += ["--path_prefix", prefix]
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "log"), "w+b") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder,
                                   env={**os.environ, "PYTHONPATH": os.pathsep.join([*python_path, *_checkout_path(folder)])})
        address = f"http://127.0.0.1:{port}{prefix}"
        try:
            _wait_for(f"{address}/data/plugins_listing", process, log.name)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _checkout_path(folder: str) -> list[str]:
    """PYTHONPATH with the checkout and an entry point for this one process in front: an installation may be older than the checkout."""
    info = os.path.join(folder, "tb_graph_ascend-0.dist-info")
    os.mkdir(info)
    with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as stream:
        stream.write("Metadata-Version: 2.1\nName: tb_graph_ascend\nVersion: 0\n")
    with open(os.path.join(info, "entry_points.txt"), "w", encoding="utf-8") as stream:
        stream.write("[tensorboard_plugins]\ntb_graph_ascend = tb_graph_ascend.plugin:GraphLoader\n")
    return [TOP, folder, *(part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part)]


def _wait_for(address: str, process: subprocess.Popen[bytes], log: str) -> None:
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > deadline:
                with open(log, encoding="utf-8", errors="replace") as stream:
                    raise RuntimeError(f"tensorboard did not start:\n{stream.read()}") from None
            time.sleep(0.1)
