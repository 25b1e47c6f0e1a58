"""Splices two neutral API calls (x * 1.0, x + 0.0) into a real dump, renumbering what comes after, as a real run would."""

from __future__ import annotations

import json
import os
import re
from typing import Any

API = re.compile(r"(Tensor\.(?:__mul__|__add__)\.)(\d+)(\.(?:forward|backward))$")


def splice(source: str, destination: str, module: str, after: str) -> list[str]:
    """Copy the rank directory `source` with two calls more below `module`, behind the call `after`; returns their names."""
    with open(os.path.join(source, "construct.json"), encoding="utf-8") as file:
        construct: dict[str, Any] = json.load(file)
    with open(os.path.join(source, "dump.json"), encoding="utf-8") as file:
        dump: dict[str, Any] = json.load(file)
    order = list(construct)
    first = {"Tensor.__mul__.": _next(order, after, "Tensor.__mul__."), "Tensor.__add__.": _next(order, after, "Tensor.__add__.")}

    def renamed(name: Any) -> Any:
        found = API.match(name) if isinstance(name, str) else None
        if found is None or int(found[2]) < first[found[1]]:
            return name
        return f"{found[1]}{int(found[2]) + 1}{found[3]}"

    extra = [f"Tensor.__mul__.{first['Tensor.__mul__.']}.forward", f"Tensor.__add__.{first['Tensor.__add__.']}.forward"]
    output = dump["data"][after]["output"][0]
    entries = [{"input_args": [output, {"type": "float", "value": value}], "input_kwargs": {}, "output": [output]} for value in (1.0, 0.0)]
    new_construct: dict[str, Any] = {}
    for name, parent in construct.items():
        new_construct[renamed(name)] = renamed(parent)
        if name == after:
            new_construct.update(dict.fromkeys(extra, module))
    new_data: dict[str, Any] = {}
    for name, entry in dump["data"].items():
        new_data[renamed(name)] = entry
        if name == after:
            new_data.update(zip(extra, entries))
    os.makedirs(destination, exist_ok=True)
    with open(os.path.join(destination, "construct.json"), "w", encoding="utf-8") as file:
        json.dump(new_construct, file)
    with open(os.path.join(destination, "dump.json"), "w", encoding="utf-8") as file:
        json.dump({**dump, "data": new_data}, file)
    with open(os.path.join(destination, "stack.json"), "w", encoding="utf-8") as file:
        json.dump({}, file)
    return extra


def _next(order: list[str], after: str, prefix: str) -> int:
    """The call number that a new call of this API gets when it is made right behind `after`."""
    numbers = [int(found[2]) for name in order[:order.index(after) + 1] for found in [API.match(name)]
               if found and found[1] == prefix and found[3] == ".forward"]
    return max(numbers, default=-1) + 1
