"""Makes the dump of a later pipeline stage from a whole model's: the last layers only, counted from 0."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Optional

LAYER = re.compile(r"^(Module\.model\.layers\.)(\d+)(\..*)$")


def last_stage(source: str, destination: str, first_layer: int) -> None:
    """Copy the rank directory `source` without the layers before `first_layer`; the others are renumbered from 0."""

    def renamed(name: Optional[str]) -> Optional[str]:
        found = LAYER.match(name or "")
        if found is None:
            return name
        number = int(found[2]) - first_layer
        return f"{found[1]}{number}{found[3]}" if number >= 0 else None

    with open(os.path.join(source, "construct.json"), encoding="utf-8") as file:
        construct: dict[str, Any] = json.load(file)
    with open(os.path.join(source, "dump.json"), encoding="utf-8") as file:
        dump: dict[str, Any] = json.load(file)
    kept = {renamed(name): renamed(parent) for name, parent in construct.items() if renamed(name)
            and (parent is None or renamed(parent)) and "embed_tokens" not in name}
    data = {renamed(name): entry for name, entry in dump["data"].items() if renamed(name) and "embed_tokens" not in name}
    data = {name: entry for name, entry in data.items() if name in kept or "parameters_grad" in str(name)}
    os.makedirs(destination, exist_ok=True)
    for name, content in (("construct.json", kept), ("dump.json", {**dump, "data": data}), ("stack.json", {})):
        with open(os.path.join(destination, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
