"""Dumps of any size: a real dump of level mix stretched by more layers and more micro steps.

The layers of a real dump are written several times, with layer numbers, call numbers and call order following on; both passes
are written several times as micro steps; the optimizer grows with the layers. Every entry is one of the real dump, so sizes,
types and value ranges are those of practice. The same arguments give the same bytes.

    python -m bench.scale --nodes 100k OUT
    python -m bench.scale --nodes 100k OUT --noise 1.0 --seed 2
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TextIO

from bench.dump_template import (
    BACKWARD_AFTER,
    BACKWARD_BEFORE,
    BACKWARD_LAYERS,
    FORWARD_AFTER,
    FORWARD_BEFORE,
    FORWARD_LAYERS,
    GROWS_WITH_LAYERS,
    OPTIMIZER,
    SEGMENTS,
    Template,
    read_template,
)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "tests", "data", "qwen2_24l_mix_stat", "golden", "step0", "rank0")
VERSION = 1  # raise it when other bytes come out: cached dumps are told apart by it
MOST_LAYER_COPIES = 20  # 24 layers × 20; what is still missing is made up by micro steps
STEPS = (1e-5, 1e-3, 1e-2, 0.2, 1.0)  # sizes of the differences that noise brings in
_STATISTICS = ("Max", "Min", "Mean", "Norm")
_HOLE = re.compile(r'"@\d+@"')
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


class Copy(NamedTuple):
    """One time that a segment is written."""

    segment: int
    layers: int  # which copy of the layers; 0 outside them
    micro: int


Offsets = dict[Copy, dict[str, int]]  # how many calls of each API there were before


def node_count(template: Template, copies: int, micro_steps: int) -> int:
    """Entries of construct.json that write_side makes, and of dump.json those that construct.json lacks."""
    alone = [[name for name in names if name not in template.parents] for names in template.data_order]
    total = 0
    for segment, names in enumerate(before + after for before, after in zip(template.order, alone)):
        growing = sum(_grows(template, name) for name in names) if segment in GROWS_WITH_LAYERS else 0
        total += (len(names) + (copies - 1) * growing) * (1 if segment == OPTIMIZER else micro_steps)
    return total


def plan(template: Template, nodes: int) -> tuple[int, int]:
    """(copies of the layers, micro steps) nearest to a number of nodes: more layers first, then more micro steps."""
    copies = min(range(1, MOST_LAYER_COPIES + 1), key=lambda count: abs(node_count(template, count, 1) - nodes))
    if copies < MOST_LAYER_COPIES:
        return copies, 1
    first = node_count(template, copies, 1)
    step = node_count(template, copies, 2) - first
    return copies, max(1, 1 + round((nodes - first) / step))


def write_side(template: Template, directory: str, copies: int, micro_steps: int, noise: float = 0.0, seed: int = 1) -> None:
    """Write `{directory}/step0/rank0/` as the collector does.

    Args:
        noise: share of the entries whose outputs are off, by a factor of up to 2 (STEPS) for each tensor.
    """
    rank = os.path.join(directory, "step0", "rank0")
    os.makedirs(rank, mode=0o750)
    order = list(_order(copies, micro_steps))
    offsets = _offsets(template, order)
    stack_of = {name: number for number, (names, _) in enumerate(template.stacks) for name in names}
    stack_names: list[list[str]] = [[] for _ in template.stacks]
    with _create(rank, "construct.json") as stream:
        between = "{\n "
        for copy in order:
            for name in _names_of(template.order, template, copy):
                written = _written(template, name, copy, offsets)
                parent = template.parents[name]
                above = None if parent is None else _written(template, parent, copy, offsets)
                stream.write(f"{between}{json.dumps(written)}: {json.dumps(above)}")
                between = ",\n "
                if name in stack_of:
                    stack_names[stack_of[name]].append(written)
        stream.write("\n}")
    with _create(rank, "dump.json") as stream:
        stream.write("{\n" + "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in template.head.items()) + ' "data": {')
        _write_entries(template, stream, order, offsets, noise, random.Random(seed))
        stream.write("\n }\n}")
    with _create(rank, "stack.json") as stream:
        groups = {str(number): [names, lines] for number, (names, (_, lines)) in enumerate(zip(stack_names, template.stacks))}
        json.dump(groups, stream, indent=1)


def parse_nodes(text: str) -> int:
    """"100k" → 100000."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([km]?)", text.strip().lower())
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no size: write 5000, 100k or 1m")
    return round(float(found[1]) * _UNITS[found[2]])


def _write_entries(template: Template, stream: TextIO, order: list[Copy], offsets: Offsets, noise: float, chance: random.Random) -> None:
    pieces = {name: _pieces(entry) for name, entry in template.entries.items()}
    between = "\n  "
    for copy in order:
        for name in _names_of(template.data_order, template, copy):
            texts, values = pieces[name]
            changed = bool(noise) and chance.random() < noise
            factor, last = 1.0, -1
            body = texts[0]
            for (tensor, value), text in zip(values, texts[1:]):
                if changed and tensor != last:
                    factor, last = 1.0 + chance.choice(STEPS) * chance.uniform(0.5, 1.0), tensor
                body += repr(value * factor) + text
            stream.write(f"{between}{json.dumps(_written(template, name, copy, offsets))}: {body}")
            between = ",\n  "


def _pieces(entry: dict[str, Any]) -> tuple[list[str], list[tuple[int, float]]]:
    """The JSON text of an entry, cut at the finite statistics of its outputs; those, each with the number of its tensor."""
    values: list[tuple[int, float]] = []
    tensors = 0

    def cut(value: Any) -> Any:
        nonlocal tensors
        if isinstance(value, list):
            return [cut(item) for item in value]
        if not isinstance(value, dict):
            return value
        tensors += 1
        number, found = tensors, {}
        for key, item in value.items():
            if key in _STATISTICS and isinstance(item, float) and abs(item) < float("inf"):
                values.append((number, item))
                found[key] = f"@{len(values)}@"
            else:
                found[key] = cut(item)
        return found

    holed = {key: cut(value) if key == "output" else value for key, value in entry.items()}
    return _HOLE.split(json.dumps(holed, indent=1).replace("\n", "\n  ")), values


def _order(copies: int, micro_steps: int) -> Iterator[Copy]:
    """Every segment in the order of execution."""
    for micro in range(micro_steps):
        yield Copy(FORWARD_BEFORE, 0, micro)
        yield from (Copy(FORWARD_LAYERS, layers, micro) for layers in range(copies))
        yield Copy(FORWARD_AFTER, 0, micro)
        yield Copy(BACKWARD_BEFORE, 0, micro)
        yield from (Copy(BACKWARD_LAYERS, layers, micro) for layers in reversed(range(copies)))
        yield Copy(BACKWARD_AFTER, 0, micro)
    yield from (Copy(OPTIMIZER, layers, 0) for layers in range(copies))


def _names_of(order: list[list[str]], template: Template, copy: Copy) -> list[str]:
    """The names that a copy of a segment writes: what does not depend on the copy is written by the first one only."""
    names = order[copy.segment]
    return names if copy.layers == 0 else [name for name in names if _grows(template, name)]


def _grows(template: Template, text: str) -> bool:
    name = template.names[text]
    return name.owner in GROWS_WITH_LAYERS if name.kind == "api" else name.layer >= 0


def _offsets(template: Template, order: list[Copy]) -> Offsets:
    ranks: list[dict[str, set[int]]] = [collections.defaultdict(set) for _ in SEGMENTS]
    for name in template.names.values():
        if name.kind == "api":
            ranks[name.owner][name.before].add(name.number)
    counts = [{base: len(numbers) for base, numbers in found.items()} for found in ranks]
    total: collections.Counter[str] = collections.Counter()
    offsets: Offsets = {}
    for copy in order:
        offsets[copy] = {base: total[base] for base in counts[copy.segment]}
        total.update(counts[copy.segment])
    return offsets


def _written(template: Template, text: str, copy: Copy, offsets: Offsets) -> str:
    """The name under which an entry of the real dump stands in one copy."""
    name = template.names[text]
    if name.kind == "fixed":
        return text
    if name.kind == "api":
        layers = copy.layers if name.owner in GROWS_WITH_LAYERS else 0
        return f"{name.before}.{offsets[Copy(name.owner, layers, copy.micro)][name.before] + name.number}.{name.direction}"
    number = name.number + copy.micro * name.calls
    if name.layer < 0:
        return f"{name.before}.{name.direction}.{number}"
    return f"{name.before}{name.layer + copy.layers * template.layers}{name.after}.{name.direction}.{number}"


def _create(directory: str, file: str) -> TextIO:
    path = os.path.join(directory, file)
    return open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o640), "w", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write one side of a large dump.")
    parser.add_argument("directory", help="OUT/step0/rank0 is written; must not exist")
    parser.add_argument("--nodes", type=parse_nodes, default=100_000, help="about so many nodes: 5000, 100k, 1m (default 100k)")
    parser.add_argument("--noise", type=float, default=0.0, help="share of entries whose outputs are off (default 0)")
    parser.add_argument("--seed", type=int, default=1, help="of the noise (default 1)")
    parser.add_argument("--source", default=SOURCE, help="a rank directory of level mix that is stretched")
    arguments = parser.parse_args()
    template = read_template(arguments.source)
    copies, micro_steps = plan(template, arguments.nodes)
    write_side(template, arguments.directory, copies, micro_steps, arguments.noise, arguments.seed)
    nodes, layers = node_count(template, copies, micro_steps), copies * template.layers
    print(f"{nodes} nodes ({layers} layers, {micro_steps} micro steps) in {arguments.directory}")


if __name__ == "__main__":
    main()
