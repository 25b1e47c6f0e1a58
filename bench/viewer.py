"""How quickly the viewer shows and reacts, in headless Chromium on one run: first picture, expanding everything, search, memory.

    python -m bench.viewer output/compare_20261129120000
    python -m bench.viewer output/compare_20261129120000 --repetitions 5 --chromium /usr/bin/chromium

Needs the extra [test] (Playwright). A server of its own is started on 127.0.0.1 and ended again. Times are measured inside the page.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

# When the first frame with boxes has been drawn, and what was fetched until then.
WATCH = """
(() => {
  const look = () => {
    const seen = globalThis.__tb_graph_ascend;
    if (seen && seen.snapshot().frame.frames > 0 && seen.snapshot().boxes.length > 0) globalThis.firstPicture = performance.now();
    else setTimeout(look, 5);
  };
  setTimeout(look, 5);
})();
"""
# Types one more character and waits for the list to change.
SEARCH = """
async (text) => {
  const box = document.querySelector('#search-box');
  const panel = () => document.querySelector('aside.panel')?.textContent ?? '';
  box.focus();
  const before = panel();
  const begun = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, text);
  box.dispatchEvent(new Event('input', { bubbles: true }));
  while (panel() === before && performance.now() - begun < 5000) await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}
"""
# Presses a button and waits for the next drawn frame.
PRESS = """
async (label) => {
  const button = [...document.querySelectorAll('button')].find((each) => each.getAttribute('aria-label') === label);
  const { snapshot } = globalThis.__tb_graph_ascend;
  const frames = snapshot().frame.frames;
  const begun = performance.now();
  button.click();
  while (snapshot().frame.frames === frames && performance.now() - begun < 30000) await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the median of each figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.viewer", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", help="a log directory or a run of graph-convert")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    options = parser.parse_args(arguments)
    command = [sys.executable, "-m", "tb_graph_ascend.view_cli", "serve", options.directory, "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[1]
        runs = [_measure(address, options.chromium) for _ in range(options.repetitions + 1)][1:]  # the first one warms the server up
    finally:
        server.terminate()
        server.wait()
    for name in runs[0]:
        print(f"{name:34} {statistics.median(run[name] for run in runs):10.1f}   ({', '.join(f'{run[name]:.0f}' for run in runs)})")
    return 0


def _measure(address: str, chromium: str) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
        browser = driver.chromium.launch(executable_path=chromium or None, args=arguments)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.add_init_script(WATCH)
        inspector = page.context.new_cdp_session(page)
        inspector.send("Network.enable")
        received: list[float] = []
        requests: list[str] = []
        inspector.on("Network.loadingFinished", lambda event: received.append(float(event["encodedDataLength"])))
        page.goto(address)
        while not page.evaluate("globalThis.firstPicture > 0"):  # the page's policy allows no wait_for_function
            page.wait_for_timeout(20)
        found: dict[str, float] = {"first picture, ms": page.evaluate("firstPicture"), "until then received, kB": sum(received) / 1000}
        page.wait_for_timeout(1500)  # the first details
        page.on("request", lambda request: requests.append(request.url))
        for text in ("m", "mlp", "mlp error>0.001"):
            found[f"search {text!r}, ms"] = page.evaluate(SEARCH, text)
        found["requests while searching"] = float(len(requests))
        page.keyboard.press("Escape")
        found["expand everything, ms"] = page.evaluate(PRESS, "Expand all")
        found["collapse everything, ms"] = page.evaluate(PRESS, "Collapse all")
        found["draw a frame, ms"] = _scrolled_frame(page)
        inspector.send("HeapProfiler.collectGarbage")
        found["JavaScript heap, MB"] = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        browser.close()
        return found


def _scrolled_frame(page: Any) -> float:
    """The slowest of twenty frames while scrolling."""
    page.evaluate(PRESS, "Expand all")
    box = page.locator(".canvas-host").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    slowest = 0.0
    for _ in range(20):
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(40)
        slowest = max(slowest, float(page.evaluate("__tb_graph_ascend.snapshot().frame.last")))
    return slowest


if __name__ == "__main__":
    sys.exit(main())
