"""How quickly the viewer shows and reacts, in headless Chromium on one run: first picture, every kind of action, frames, memory.

    python -m bench.viewer output/compare_20261129120000
    python -m bench.viewer output/compare_20261129120000 --repetitions 5 --chromium /usr/bin/chromium --each

Needs the extra [test] (Playwright). A server of its own is started on 127.0.0.1 and ended again. Times are measured inside the page
(viewer_page.js), in milliseconds from the event: to the next painted frame; until panel and graphs stand as they stay; and the
longest stretch for which the main thread was not free. The last column is CPU time of the main thread (main_thread.py) for all
that an action sets off, the accessible tree and details included, less what waiting costs: it holds on a busy machine as well.
What is typed, pressed and chosen stands in viewer_steps.py.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.graph_view import serving
from bench.main_thread import cpu_milliseconds, renderers
from bench.viewer_steps import Measurement, Taken, all_steps

Figures = dict[str, float]

RECEIVED = """performance.getEntries().filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= firstPicture)
  .reduce((sum, { transferSize }) => sum + transferSize, 0)"""  # bytes, headers included


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints medians: single figures first, then each kind of action."""
    parser = argparse.ArgumentParser(prog="python -m bench.viewer", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", help="a log directory or a run of graph-convert")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    parser.add_argument("--each", action="store_true", help="every single action too, not only its kind")
    options = parser.parse_args(arguments)
    figures: list[Figures] = []
    taken: dict[tuple[str, str], list[Taken]] = {}
    with serving(options.directory) as (address, _pid):
        _measure(address, options.chromium, {})  # the first one warms the server up
        for _ in range(options.repetitions):
            figures.append(_measure(address, options.chromium, taken))
    for name in figures[0]:
        print(f"{name:34} {statistics.median(run[name] for run in figures):10.1f}   ({', '.join(f'{run[name]:.0f}' for run in figures)})")
    _print_actions(taken, options.each)
    return 0


def _print_actions(taken: dict[tuple[str, str], list[Taken]], each: bool) -> None:
    """Of one action the median of the repetitions counts; of a kind its median and its worst action."""
    print(f"\n{'milliseconds, median and worst':58} {'next frame':>16} {'as it stays':>16} {'blocked':>16} {'CPU':>16}")
    kinds = list(dict.fromkeys(kind for kind, _ in taken))
    for kind in kinds:
        actions = {name: [statistics.median(column) for column in zip(*runs)] for (of, name), runs in taken.items() if of == kind}
        columns = list(zip(*actions.values()))
        cells = " ".join(f"{statistics.median(column):8.0f}{max(column):8.0f}" for column in columns)
        print(f"{f'{kind} ({len(actions)})':58} {cells}")
        if each:
            for name, medians in actions.items():
                print(f"    {name:54} " + " ".join(f"{value:16.0f}" for value in medians))


def _measure(address: str, chromium: str, taken: dict[tuple[str, str], list[Taken]]) -> Figures:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
        browser = driver.chromium.launch(executable_path=chromium or None, args=arguments)
        page = browser.new_page(viewport={"width": 1600, "height": 1000}, locale="en")
        page.add_init_script(path=str(Path(__file__).with_name("viewer_page.js")))
        requests: list[str] = []
        page.goto(address)
        while not page.evaluate("globalThis.firstPicture > 0"):  # the page's policy allows no wait_for_function
            page.wait_for_timeout(100)
        # What the page itself has noted: an inspector that listens to every packet takes a tenth of the time for itself.
        found: Figures = {"first picture, ms": page.evaluate("firstPicture"), "until then received, kB": page.evaluate(RECEIVED) / 1000}
        page.wait_for_timeout(1500)  # the first details
        inspector = page.context.new_cdp_session(page)
        page.on("request", lambda request: requests.append(request.url))
        pages = renderers()

        def run(action: str, argument: object) -> Taken:
            before = cpu_milliseconds(pages)
            result: Measurement = page.evaluate(f"bench.{action}", argument)
            return result["first"], result["shown"], result["blocked"], cpu_milliseconds(pages) - before

        waiting = statistics.median(run("key", "Shift")[3] for _ in range(3))

        def measure(kind: str, name: str, action: str, argument: object) -> None:
            first, shown, blocked, cpu = run(action, argument)
            taken.setdefault((kind, name), []).append((first, shown, blocked, max(0.0, cpu - waiting)))

        for step in all_steps(page, measure):
            requests.clear()
            step()
            found[f"requests: {step.__name__.replace('_', ' ')}"] = float(len(requests))
        found["slowest frame while scrolling, ms"] = _scrolled_frame(page)
        inspector.send("HeapProfiler.collectGarbage")
        found["JavaScript heap, MB"] = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        browser.close()
        return found


def _scrolled_frame(page: Any) -> float:
    """The slowest of twenty frames while scrolling, everything expanded."""
    page.evaluate("bench.press", "Expand all")
    box = page.locator(".canvas-host").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    slowest = 0.0
    for _ in range(20):
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(40)
        slowest = max(slowest, float(page.evaluate("__tb_graph_ascend.frameTimes.last")))
    return slowest


if __name__ == "__main__":
    sys.exit(main())
