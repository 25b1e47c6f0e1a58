"""How quickly the server answers: one client, then many at once, on one run. Loopback only, bounded in number and time.

    python -m bench.serve_load output/compare_20261129120000
    python -m bench.serve_load output/compare_20261129120000 --clients 20 --requests 50 --json result.json

A server of its own is started on 127.0.0.1 and ended again. "opening" asks for everything that a first picture needs; "details" for the
blocks of random pairs, as clicks do: one comparison block and the tensor blocks of both sides.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from bench.graph_view import serving

OPENING = ("summary", "strings", "topology/target", "topology/golden", "pairs", "verdicts")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures; with --json writes them as well."""
    parser = argparse.ArgumentParser(prog="python -m bench.serve_load", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", help="a log directory or a run of graph-convert")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--requests", type=int, default=50, help="clicks of each client (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    with serving(options.directory) as (address, pid):
        result = _measure(address, options.clients, options.requests, pid)
    for name, value in result.items():
        print(f"{name:32} {value}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(result, stream, indent=1)
    return 0


def _measure(address: str, clients: int, requests: int, pid: int) -> dict[str, Any]:
    client = _Client(address)
    start = _resident_megabytes(pid)
    begin = time.perf_counter()
    runs = json.loads(client.get("runs", {}))
    while runs["scanning"]:
        time.sleep(0.01)
        runs = json.loads(client.get("runs", {}))
    listing = time.perf_counter() - begin
    run = runs["runs"][0]
    graph = next(graph for graph in run["graphs"] if "version" in graph)
    key = {"run": run["run"], "step": graph["step"], "rank": graph["rank"]}
    first, bytes_, sections = _open(client, key)
    again = [_open(client, key)[0] for _ in range(10)]
    blocks = [name for name in sections if name.startswith("comparisons/")]
    assert blocks, "the run is a single graph; name a comparison"
    alone = _clicks(client, key, blocks, requests, seed=0)
    crowd: list[float] = []
    threads = [threading.Thread(target=lambda seed=seed: crowd.extend(_clicks(_Client(address), key, blocks, requests, seed)))
               for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "graph MB": round(graph["size"] / 1e6, 2),
        "list of runs ms": round(listing * 1e3, 1),
        "opening, first ms": round(first * 1e3, 1),
        "opening, then ms (median)": round(statistics.median(again) * 1e3, 1),
        "opening bytes": bytes_,
        "details, one client ms (median)": round(statistics.median(alone) * 1e3, 2),
        f"details, {clients} clients ms (median)": round(statistics.median(crowd) * 1e3, 2),
        f"details, {clients} clients ms (p95)": round(sorted(crowd)[int(len(crowd) * 0.95)] * 1e3, 2),
        "server MB at start": start,
        "server MB at the end": _resident_megabytes(pid),
    }


class _Client:
    """One connection that is kept open, as a browser's."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)

    def get(self, route: str, query: dict[str, Any]) -> bytes:
        self._connection.request("GET", f"/{route}?{urlencode(query)}", headers={"Accept-Encoding": "gzip" if route == "section" else ""})
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return content


def _open(client: _Client, key: dict[str, Any]) -> tuple[float, int, list[str]]:
    begin = time.perf_counter()
    index = json.loads(client.get("graph", key))
    names = [section["name"] for section in index["sections"]]
    size = sum(len(client.get("section", {**key, "name": name, "v": index["version"]})) for name in OPENING if name in names)
    return time.perf_counter() - begin, size, names


def _clicks(client: _Client, key: dict[str, Any], blocks: list[str], count: int, seed: int) -> list[float]:
    chosen = random.Random(seed).choices(blocks, k=count)
    times = []
    for block in chosen:
        number = block.partition("/")[2]
        begin = time.perf_counter()
        for name in (block, f"tensors/target/{number}", f"tensors/golden/{number}"):
            client.get("section", {**key, "name": name})
        times.append(time.perf_counter() - begin)
    return times


def _resident_megabytes(pid: int) -> float | None:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as stream:
            return round(int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
    except OSError:
        return None  # not Linux


if __name__ == "__main__":
    sys.exit(main())
