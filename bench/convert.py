"""How long a conversion takes, what it needs, and how both grow with the size of the dumps.

    python -m bench.convert --sizes 5k,100k
    python -m bench.convert --sizes 5k,100k,500k,1m --repetitions 5 --json result.json
    python -m bench.convert --sizes 5k,100k --peer /path/to/environment/bin/python

Every figure is of a fresh process and, of several repetitions, the median; the programs take turns within a repetition. Memory is
taken in one more run beforehand, because sampling it costs time. The measure is plain `json.load` of both dump.json files in a
fresh process: figures of different machines compare as ratios to it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Optional

from bench.dump_template import Template, read_template
from bench.processes import CommandFailed, Measured, directory_bytes, measure
from bench.scale import ROOT, SOURCE, VERSION, node_count, parse_nodes, plan, write_side

STAGES = ("read", "tree", "match", "compare", "judge", "write")
_LOAD_JSON = "import json, sys\nfor path in sys.argv[1:]:\n    with open(path, encoding='utf-8') as stream:\n        json.load(stream)"
_MEGABYTE = 1e6


@dataclass(frozen=True)
class Program:
    """One of the things that are measured."""

    name: str
    command: Callable[[str, str, str], list[str]]  # (target, golden, output directory) → command line
    timings: bool = False  # it writes {output}/timings.json


@dataclass
class Result:
    """Medians of one program at one size."""

    program: str
    nodes: int  # of one side
    input_bytes: int
    wall: float = math.nan
    cpu: float = math.nan
    largest: int = 0  # peak of the largest process, bytes
    together: int = 0  # peak of all processes at once, bytes
    output_bytes: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    walls: list[float] = field(default_factory=list)
    failed: str = ""


def programs(python: str, peer: Optional[str], arguments: list[str]) -> list[Program]:
    """What is measured: json.load, this converter, and the peer if its environment is given."""
    found = [
        Program("json.load", lambda target, golden, output: [python, "-c", _LOAD_JSON, _dump(target), _dump(golden)]),
        Program("graph-convert", lambda target, golden, output: [
            python, "-m", "converter.cli", "-tp", target, "-gp", golden, "-o", os.path.join(output, "graphs"),
            "--timings", os.path.join(output, "timings.json"), *arguments], timings=True),
    ]
    if peer:
        script = os.path.join(os.path.dirname(os.path.abspath(peer)), "msprobe")
        found.append(Program("peer", lambda target, golden, output: [
            os.path.abspath(peer), script, "graph_visualize", "-tp", target, "-gp", golden, "-o", output]))
    return found


def _dump(side: str) -> str:
    return os.path.join(side, "step0", "rank0", "dump.json")


def prepare(template: Template, nodes: int, noise: float, seed: int, cache: str) -> tuple[str, str, int]:
    """The two sides of a size, written unless they are there: (target, golden, nodes of one side)."""
    copies, micro_steps = plan(template, nodes)
    size = f"v{VERSION}_{copies}x{micro_steps}"
    golden, target = os.path.join(cache, size), os.path.join(cache, f"{size}_noise{noise:g}_seed{seed}")
    for directory, share in ((golden, 0.0), (target, noise)):
        if not os.path.isdir(directory):
            unfinished = tempfile.mkdtemp(dir=cache)
            write_side(template, unfinished, copies, micro_steps, share, seed)
            os.chmod(unfinished, 0o750)
            os.rename(unfinished, directory)
    return target, golden, node_count(template, copies, micro_steps)


def measure_size(found: list[Program], target: str, golden: str, nodes: int, repetitions: int, scratch: str) -> list[Result]:
    """Run every program once for its memory and `repetitions` times for its time."""
    input_bytes = directory_bytes(target) + directory_bytes(golden)
    results = [Result(program.name, nodes, input_bytes) for program in found]
    cpus: list[list[float]] = [[] for _ in found]
    stages: list[list[dict[str, float]]] = [[] for _ in found]
    for repetition in range(repetitions + 1):
        for number, (program, result) in enumerate(zip(found, results)):
            if result.failed:
                continue
            output = tempfile.mkdtemp(dir=scratch)
            try:
                measured: Measured = measure(program.command(target, golden, output), ROOT, memory=repetition == 0)
            except CommandFailed as problem:
                result.failed = str(problem)
                continue
            if repetition == 0:
                result.largest, result.together = measured.largest, max(measured.together, measured.largest)
                result.output_bytes = directory_bytes(output) - _size(os.path.join(output, "timings.json"))
            else:
                result.walls.append(measured.wall)
                cpus[number].append(measured.cpu)
                if program.timings:
                    with open(os.path.join(output, "timings.json"), encoding="utf-8") as stream:
                        stages[number].append(json.load(stream))
            shutil.rmtree(output)
    for number, result in enumerate(results):
        if result.walls:
            result.wall, result.cpu = statistics.median(result.walls), statistics.median(cpus[number])
            names = {name for found_stages in stages[number] for name in found_stages}
            result.stages = {name: statistics.median(one.get(name, 0.0) for one in stages[number]) for name in names}
    return results


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def exponent(nodes: list[int], values: list[float]) -> float:
    """Slope of log(value) over log(nodes) by least squares: 1 = grows in proportion. NaN below two different sizes."""
    usable = [(math.log(x), math.log(y)) for x, y in zip(nodes, values) if x > 0 and y > 0 and math.isfinite(y)]
    if len({x for x, _ in usable}) < 2:
        return math.nan
    middle_x, middle_y = (statistics.fmean(column) for column in zip(*usable))
    return sum((x - middle_x) * (y - middle_y) for x, y in usable) / sum((x - middle_x) ** 2 for x, _ in usable)


def tables(sizes: list[list[Result]]) -> str:
    """Everything as text: one table of figures, one of stages, one of growth."""
    lines = [_row(("nodes a side", "program", "wall s", "× json", "CPU s", "× json", "largest MB", "× json", "together MB", "output MB",
                   "× input", "nodes/s"))]
    for results in sizes:
        base = results[0]
        for result in results:
            if result.failed:
                lines.append(_row((f"{result.nodes}", result.program, "failed")))
                continue
            lines.append(_row((
                f"{result.nodes}", result.program, f"{result.wall:.2f}", f"{result.wall / base.wall:.2f}", f"{result.cpu:.2f}",
                f"{result.cpu / base.cpu:.2f}", f"{result.largest / _MEGABYTE:.0f}", f"{result.largest / base.largest:.2f}",
                f"{result.together / _MEGABYTE:.0f}", f"{result.output_bytes / _MEGABYTE:.2f}",
                f"{result.output_bytes / result.input_bytes:.3f}", f"{2 * result.nodes / result.wall:.0f}")))
    lines += ["", "Seconds by stage (the rest: starting Python, imports, finding dumps, ending)"]
    staged = [result for results in sizes for result in results if result.stages]
    names = [*[name for name in STAGES if any(name in result.stages for result in staged)],
             *sorted({name for result in staged for name in result.stages} - set(STAGES))]
    lines.append(_row(("nodes a side", "program", *names, "rest")))
    for result in staged:
        rest = result.wall - sum(result.stages.values())
        lines.append(_row((f"{result.nodes}", result.program, *(f"{result.stages.get(name, 0.0):.3f}" for name in names), f"{rest:.3f}")))
    if len(sizes) > 1:
        lines += ["", "Growth: exponent over the number of nodes (1 = in proportion)"]
        lines.append(_row(("", "program", "wall", "CPU", "largest", "output", "wall, last two sizes")))
        for number, first in enumerate(sizes[0]):
            column = [results[number] for results in sizes]
            nodes = [result.nodes for result in column]
            series: list[list[float]] = [[result.wall for result in column], [result.cpu for result in column],
                                         [float(result.largest) for result in column], [float(result.output_bytes) for result in column]]
            lines.append(_row(("", first.program, *(_figure(exponent(nodes, values)) for values in series),
                               _figure(exponent(nodes[-2:], series[0][-2:])))))
        counts = [result.nodes for result in staged]
        lines += [_row(("", stage, _figure(exponent(counts, [result.stages.get(stage, 0.0) for result in staged])))) for stage in names]
    failures = [f"{result.program} at {result.nodes} nodes: {result.failed}" for results in sizes for result in results if result.failed]
    return "\n".join(line.rstrip() for line in lines + failures)


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _row(cells: tuple[str, ...]) -> str:
    return "".join(cell.ljust(14) if number == 1 else cell.rjust(13) + "  " for number, cell in enumerate(cells))


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default="5k,100k", help="nodes a side, separated by commas (default 5k,100k)")
    parser.add_argument("--repetitions", type=int, default=3, help="runs whose median counts (default 3)")
    parser.add_argument("--noise", type=float, default=1.0, help="share of target's entries that differ (default 1.0: the worst case)")
    parser.add_argument("--seed", type=int, default=2, help="of the noise (default 2)")
    parser.add_argument("--python", default=sys.executable, help="Python that runs the converter (default: this one)")
    parser.add_argument("--peer", help="Python of an environment with mindstudio-probe, to be measured beside")
    parser.add_argument("--source", default=SOURCE, help="rank directory of level mix that is stretched")
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "tb_graph_ascend_bench"), help="where the dumps are kept")
    parser.add_argument("--json", help="also write all figures to this file")
    parser.add_argument("options", nargs="*", help="after --: further options of graph-convert")
    arguments = parser.parse_args()
    os.makedirs(arguments.cache, mode=0o750, exist_ok=True)
    template = read_template(arguments.source)
    found = programs(arguments.python, arguments.peer, arguments.options)
    sizes: list[list[Result]] = []
    with tempfile.TemporaryDirectory(dir=arguments.cache) as scratch:
        for nodes in (parse_nodes(text) for text in arguments.sizes.split(",")):
            target, golden, count = prepare(template, nodes, arguments.noise, arguments.seed, arguments.cache)
            sizes.append(measure_size(found, target, golden, count, arguments.repetitions, scratch))
            print(f"{count} nodes a side measured", file=sys.stderr)
    print(tables(sizes))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as stream:
            json.dump({"machine": machine(), "repetitions": arguments.repetitions, "noise": arguments.noise,
                       "results": [asdict(result) for results in sizes for result in results]}, stream, indent=1)
    return 1 if any(result.failed for results in sizes for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
