"""What bench/viewer.py does in the viewer, kind by kind: as a person would, each action measured alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Measurement = dict[str, float]  # first, shown, blocked: see viewer_page.js
Taken = tuple[float, float, float, float]  # these and CPU time
Measure = Callable[[str, str, str, object], None]  # kind, name, function of `bench` in the page, its argument

# Typed letter by letter, each letter measured.
WORDS = ("mlp", "attention", "layers.1?.mlp")
# Typed at once: each stands for a kind of condition.
QUERIES = {
    "search: expression": ("/^Module.*norm/", "/\\.(mlp|attn).*\\d+$/"),
    "search: number": ("norm_err>0.01", "error:1e-3..0.1", "mlp error>0.001"),
    "search: property": ("is:introduced", "is:unmatched", "-is:pass", "kind:api", "path:layers.3", "class:Linear"),
    "search: name with digits": ("linear.1", "forward.0", "layers.1"),
}
CHIPS = ".search-panel .tags button.tag"
MENUS = ".search-panel .tags select"
FINDING_CHIPS = ".findings .tags button.tag"
SORT = ".search-panel .sort select"
COLOUR = ".top select"


def all_steps(page: Any, measure: Measure) -> list[Callable[[], None]]:
    """The steps in their order; each begins and ends with the same view."""

    def settle() -> None:
        page.wait_for_timeout(300)  # the accessible tree follows a little later

    def containers() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = page.evaluate("bench.containers()")
        return found

    def expanding() -> None:
        page.evaluate("bench.press", "Collapse all")
        settle()
        for entry in [entry for entry in containers() if not entry["open"]][:12]:
            measure("expand one", f"node {entry['node']}", "toggle", entry["node"])
            settle()
            measure("collapse one", f"node {entry['node']}", "toggle", entry["node"])
            settle()
        measure("expand everything", "", "press", "Expand all")
        settle()
        for entry in [entry for entry in containers() if entry["open"]][:6]:
            measure("collapse one, all others open", f"node {entry['node']}", "toggle", entry["node"])
            settle()
            measure("expand one, all others open", f"node {entry['node']}", "toggle", entry["node"])
            settle()
        measure("collapse everything", "", "press", "Collapse all")

    def searching() -> None:
        for letter in "mlan":
            measure("search: first letter", letter, "type", letter)
            page.evaluate("bench.type", "")
        for word in WORDS:
            for length in range(1, len(word) + 1):
                measure("search: one more letter", word[:length], "type", word[:length])
            page.evaluate("bench.type", "")
        for kind, queries in QUERIES.items():
            for query in queries:
                measure(kind, query, "type", query)
                page.evaluate("bench.type", "")

    def filtering() -> None:
        page.evaluate("bench.type", "")
        if page.evaluate("bench.count", CHIPS) == 0:
            page.evaluate("document.querySelector('.search-tools button').click()")
            settle()
        for index in range(page.evaluate("bench.count", CHIPS)):
            name = page.locator(CHIPS).nth(index).inner_text()
            for _ in ("on", "off"):
                measure("filter: chip of the search", f"{name} {_}", "click", {"selector": CHIPS, "index": index})
        for index in range(page.evaluate("bench.count", MENUS)):
            options = page.evaluate("bench.options", {"selector": MENUS, "index": index})
            label = page.locator(MENUS).nth(index).get_attribute("aria-label")
            for value in [*options[1:4], ""] if len(options) > 1 else []:
                measure("filter: menu of the search", f"{label} {value}", "choose", {"selector": MENUS, "index": index, "value": value})

    def sorting() -> None:
        for query in ("m", ""):
            page.evaluate("bench.type", query)
            for value in [*page.evaluate("bench.options", {"selector": SORT, "index": 0})[1:], "call"]:
                measure("sort the hits", f"{query or 'all'} by {value}", "choose", {"selector": SORT, "index": 0, "value": value})

    def going_through() -> None:
        page.evaluate("bench.type", "mlp")
        for number, key in enumerate("nnnnppp"):
            measure("next, previous: hits", f"{number} {key}", "key", key)
        page.evaluate("bench.type", "")
        page.evaluate("document.querySelectorAll('.rail button')[0].click()")
        settle()
        for index in range(page.evaluate("bench.count", FINDING_CHIPS)):
            name = page.locator(FINDING_CHIPS).nth(index).inner_text()
            for _ in ("on", "off"):
                measure("filter: chip of the findings", f"{name} {_}", "click", {"selector": FINDING_CHIPS, "index": index})
        for number, key in enumerate("nnnnppp"):
            measure("next, previous: findings", f"{number} {key}", "key", key)
        page.evaluate("bench.press", "Expand all")
        for number, key in enumerate("nnpp"):
            measure("next, previous: everything expanded", f"{number} {key}", "key", key)
        page.evaluate("bench.press", "Collapse all")

    def colouring() -> None:
        index = page.evaluate("bench.count", COLOUR) - 1
        for value in page.evaluate("bench.options", {"selector": COLOUR, "index": index})[::-1]:
            measure("colour mode", value, "choose", {"selector": COLOUR, "index": index, "value": value})

    return [expanding, searching, filtering, sorting, going_through, colouring]
