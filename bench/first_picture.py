"""How long until the first picture: in a TensorBoard process and in graph-view serve, a new browser each time, the two in turn.

    python -m bench.first_picture output/compare_20261129120000
    python -m bench.first_picture output/compare_20261129120000 --repetitions 12 --chromium /usr/bin/chromium

Needs the extra [test] (Playwright). Milliseconds from the navigation of the viewer's own page: in TensorBoard its frame (what TensorBoard's
page around it takes comes before), in graph-view serve the page. The page measures itself (viewer_page.js); nothing else listens.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.graph_view import serving

WAIT = 60  # seconds until TensorBoard must have answered


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints median, least and most of each."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_picture", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", help="a log directory or a run of graph-convert")
    parser.add_argument("--repetitions", type=int, default=8)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    options = parser.parse_args(arguments)
    with _tensorboard(options.directory) as board, serving(options.directory) as (alone, _pid):
        places = {"TensorBoard": f"{board}#tb_graph_ascend", "graph-view serve": alone}
        times: dict[str, list[float]] = {name: [] for name in places}
        for repetition in range(options.repetitions + 1):
            for name, address in places.items():
                taken = _first_picture(address, options.chromium)
                if repetition > 0:  # the first one warms the server up
                    times[name].append(taken)
    for name, taken_ in times.items():
        print(f"{name:18} {statistics.median(taken_):6.0f} ms ({min(taken_):.0f}–{max(taken_):.0f})")
    return 0


def _first_picture(address: str, chromium: str) -> float:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium or None, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1600, "height": 1000}, locale="en")
        page.add_init_script(path=str(Path(__file__).with_name("viewer_page.js")))
        page.goto(address)
        taken = None
        while taken is None:
            page.wait_for_timeout(100)
            taken = _noted(page)
        browser.close()
        return taken


def _noted(page: Any) -> float | None:
    """What the viewer's page has noted, the frame of TensorBoard's first; None as long as there is no picture."""
    from playwright.sync_api import Error

    for frame in reversed(page.frames):
        with contextlib.suppress(Error):  # a frame that is just being opened
            found = frame.evaluate("globalThis.firstPicture")
            if found:
                return float(found)
    return None


@contextlib.contextmanager
def _tensorboard(directory: str) -> Iterator[str]:
    """Yields the address of a TensorBoard process of its own; ends it afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", directory, "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(WAIT):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}data/plugin/tb_graph_ascend/runs", timeout=WAIT):
                break
            time.sleep(1)
        yield address
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
