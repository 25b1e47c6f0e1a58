"""Dumps whose module names say nothing: what matching can do by structure and numbers alone."""

from __future__ import annotations

import json
import os
import random
import re
from typing import Any

_MODULE = re.compile(r"(Module|Cell)\.(.+)\.([^.]+)\.(forward|backward|parameters_grad)(\.\d+)?$")


def neutral_copy(source: str, directory: str, seed: int = 1) -> dict[str, str]:
    """Copy a rank directory with every component and class name of modules replaced: the same name by the same new one.

    Returns:
        old → new name; layer numbers and other numbers are kept.
    """
    files = {}
    for file in ("dump.json", "construct.json", "stack.json"):
        with open(os.path.join(source, file), encoding="utf-8") as stream:
            files[file] = json.load(stream)
    data, parents, stacks = files["dump.json"]["data"], files["construct.json"], files["stack.json"]
    words: dict[str, str] = {}
    for name in [*parents, *data]:
        found = _MODULE.match(name)
        if found:
            for word in (*found[2].split("."), found[3]):
                if not word.isdigit():
                    words.setdefault(word, "")
    numbers = list(range(len(words)))
    random.Random(seed).shuffle(numbers)  # the new names are not in call order either
    for word, number in zip(words, numbers):
        words[word] = f"{'abcdefghij'[number % 10]}{number}"

    def renamed(name: Any) -> Any:
        found = _MODULE.match(name) if isinstance(name, str) else None
        if not found:
            return [renamed(part) for part in name] if isinstance(name, list) else name
        path = ".".join(words.get(word, word) for word in found[2].split("."))
        return f"{found[1]}.{path}.{words[found[3]]}.{found[4]}{found[5] or ''}"

    files["dump.json"]["data"] = {renamed(name): entry for name, entry in data.items()}
    files["construct.json"] = {renamed(name): renamed(parent) for name, parent in parents.items()}
    files["stack.json"] = {key: [[renamed(name) for name in group[0]], group[1]] if isinstance(group[0], list) else group
                           for key, group in ((renamed(key), group) for key, group in stacks.items())}
    os.makedirs(directory)
    for file, content in files.items():
        with open(os.path.join(directory, file), "w", encoding="utf-8") as stream:
            json.dump(content, stream)
    return words
