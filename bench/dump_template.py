"""A real dump taken apart: which entries belong to which pass, which to a layer, which calls number which."""

from __future__ import annotations

import collections
import json
import os
import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

FORWARD_BEFORE, FORWARD_LAYERS, FORWARD_AFTER, BACKWARD_BEFORE, BACKWARD_LAYERS, BACKWARD_AFTER, OPTIMIZER = SEGMENTS = range(7)
GROWS_WITH_LAYERS = (FORWARD_LAYERS, BACKWARD_LAYERS, OPTIMIZER)
_MODULE = re.compile(r"(?P<base>(?:Module|Cell)\..+)\.(?P<direction>forward|backward|parameters_grad)\.(?P<number>\d+)$")
_API = re.compile(r"(?P<base>[A-Z]\w*\..+)\.(?P<number>\d+)\.(?P<direction>forward|backward)$")
_NUMBERED = re.compile(r"\.(\d+)(?=\.)")


class Name(NamedTuple):
    """A name of the real dump, cut where numbers go in."""

    kind: str  # api | module | fixed
    before: str  # text before the layer number; of all others the text before direction and call number
    layer: int  # -1 = in no layer
    after: str  # text behind the layer number
    number: int  # call number; of an API its rank among the calls of that name in the segment `owner`
    direction: str
    calls: int  # of a module: calls in one micro step
    owner: int  # of an API: the segment that numbers it; a backward call bears the number of its forward call


@dataclass(frozen=True)
class Template:
    """A rank directory with its entries sorted into SEGMENTS."""

    head: dict[str, Any]  # dump.json without `data`
    entries: dict[str, Any]  # `data`
    parents: dict[str, Optional[str]]  # construct.json
    stacks: list[tuple[list[str], list[str]]]  # names, lines
    names: dict[str, Name]
    order: list[list[str]]  # names of each segment, as in construct.json
    data_order: list[list[str]]  # as in dump.json
    layers: int


def read_template(directory: str) -> Template:
    """Read a rank directory of level mix with grouped stacks."""
    dump, parents, stacks = (_load(directory, file) for file in ("dump.json", "construct.json", "stack.json"))
    entries = dump.pop("data")
    prefix = _layer_prefix(parents)
    # construct.json is in the order in which calls begin, dump.json in the order in which they end; gradients of parameters
    # stand in dump.json only.
    ended = _segments(list(entries), parents, prefix)
    segment_of = {**ended, **_segments(list(parents), parents, prefix)}
    names = _names(segment_of, prefix)
    order: list[list[str]] = [[] for _ in SEGMENTS]
    data_order: list[list[str]] = [[] for _ in SEGMENTS]
    for name in parents:
        order[segment_of[name]].append(name)
    for name in entries:
        data_order[ended[name]].append(name)
    return Template(dump, entries, parents, [(names_, lines) for names_, lines in stacks.values()], names, order, data_order,
                    1 + max(name.layer for name in names.values()))


def _load(directory: str, file: str) -> Any:
    with open(os.path.join(directory, file), encoding="utf-8") as stream:
        return json.load(stream)


def _layer_prefix(parents: dict[str, Optional[str]]) -> str:
    """The text before the layer number ("Module.model.layers."): what most module names have before a number."""
    found: collections.Counter[str] = collections.Counter()
    for name in parents:
        module = _MODULE.match(name)
        number = _NUMBERED.search(module["base"]) if module else None
        if number:
            found[name[:number.start() + 1]] += 1
    if not found:
        raise ValueError("no module name holds a layer number: this dump cannot be stretched")
    return found.most_common(1)[0][0]


def _segments(names: list[str], parents: dict[str, Optional[str]], prefix: str) -> dict[str, int]:
    """The segment of every name: by the modules around it, outside the layers by what stands before it in `names`."""
    found: dict[str, int] = {}
    seen_layer = {False: False, True: False}
    for name in names:
        around, above = [name], parents.get(name)
        while above is not None and above not in around:
            around.append(above)
            above = parents.get(above)
        if "optimizer" in around:
            found[name] = OPTIMIZER
            continue
        in_layer = any(other.startswith(prefix) for other in around)
        backward = any(".backward" in other or ".parameters_grad" in other for other in around)
        seen_layer[backward] |= in_layer
        place = 1 if in_layer else 2 if seen_layer[backward] else 0
        found[name] = (BACKWARD_BEFORE if backward else FORWARD_BEFORE) + place
    return found


def _names(segment_of: dict[str, int], prefix: str) -> dict[str, Name]:
    calls: collections.Counter[tuple[str, str]] = collections.Counter()
    owners: dict[tuple[str, int], int] = {}
    for name, segment in segment_of.items():
        module, api = _MODULE.match(name), _API.match(name)
        if module:
            calls[module["base"], module["direction"]] += 1
        elif api and (api["direction"] == "forward" or (api["base"], int(api["number"])) not in owners):
            owners[api["base"], int(api["number"])] = segment
    ranks: dict[tuple[str, int], int] = {}
    seen: collections.Counter[tuple[str, int]] = collections.Counter()
    for (base, number), segment in sorted(owners.items()):
        ranks[base, number] = seen[base, segment]
        seen[base, segment] += 1
    layered = re.compile(re.escape(prefix) + r"(\d+)(\..+)$")
    found: dict[str, Name] = {}
    for name in segment_of:
        module, api = _MODULE.match(name), _API.match(name)
        if module:
            base = module["base"]
            cut = layered.match(base)
            before, layer, after = (prefix, int(cut[1]), cut[2]) if cut else (base, -1, "")
            direction = module["direction"]
            found[name] = Name("module", before, layer, after, int(module["number"]), direction, calls[base, direction], -1)
        elif api:
            key = (api["base"], int(api["number"]))
            found[name] = Name("api", api["base"], -1, "", ranks[key], api["direction"], 0, owners[key])
        else:
            found[name] = Name("fixed", name, -1, "", 0, "", 0, -1)
    return found
