"""Damages dumps in every way that a disk, an editor, another collector or an enemy could: for bench/break_convert.py and its test."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILES = ("dump.json", "construct.json", "stack.json")

WEIRD_NAMES = [
    "", " ", "x" * 300, "\u202eabc", "a\nb", "\0", "..", "../../etc/passwd", "名字", "\ud800", "root", "Module.", ".forward.0", "{}", "%s",
    "Module..x.forward.0", "Module.a.b.forward.-1", "Module.a.b.forward.99999999999999999999", "a.parameters_grad",
    "Module.a.parameters_grad", "Functional.f.0.backward", "megatron_micro_step_number", "Module.a.A.forward.0.",
    "Module." + "m." * 500 + "M.forward.0", "é" * 200,
]

WEIRD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2 ** 31, -2 ** 63, 2 ** 64, 10 ** 400, 0.0, -0.0, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"),
    "", "NaN", "text", "\x7f", "\ud800", [], {}, [None], [[]], {"": {}}, [1, "a", None, {}], "x" * 5000,
    {"type": "torch.Tensor"},
    {"type": "torch.Tensor", "shape": [-1, 2 ** 70], "dtype": 3, "Max": [], "Min": {}, "Mean": "a"},
    {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [0], "Max": None, "Min": None, "Mean": None, "Norm": None},
    {"type": 7, "value": {"a": [1]}}, {"type": "int", "value": 10 ** 4000}, {"type": "slice", "value": [1, None, "x"]},
]

Change = Callable[[random.Random, Any], Any]


def read_documents(folder: Path, entries: int) -> dict[str, Any]:
    """The three files of a rank directory decoded; of the nodes the first ones."""
    documents = {name: json.loads((folder / name).read_text(encoding="utf-8")) for name in FILES if (folder / name).exists()}
    data = documents["dump.json"]["data"]
    documents["dump.json"]["data"] = dict(list(data.items())[:entries])
    documents["construct.json"] = dict(list(documents["construct.json"].items())[:entries])
    return documents


def _containers(value: Any, found: list[Any]) -> list[Any]:
    """All objects and lists below a value that hold something."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)) and one:
            found.append(one)
            waiting += one.values() if isinstance(one, dict) else one
    return found


def _place(generator: random.Random, document: Any) -> tuple[Any, Any]:
    """A random container below a document and a key of it."""
    containers = _containers(document, [])
    if not containers:
        return None, None
    container = generator.choice(containers)
    return container, generator.choice(list(container) if isinstance(container, dict) else range(len(container)))


def replace_value(generator: random.Random, document: Any) -> Any:
    container, key = _place(generator, document)
    if container is None:
        return generator.choice(WEIRD_VALUES)
    container[key] = copy.deepcopy(generator.choice(WEIRD_VALUES))
    return document


def remove_value(generator: random.Random, document: Any) -> Any:
    container, key = _place(generator, document)
    if container is not None:
        del container[key]
    return document


def rename_key(generator: random.Random, document: Any) -> Any:
    container, key = _place(generator, document)
    if isinstance(container, dict):
        renamed = generator.choice([*WEIRD_NAMES, *container])
        items = [(renamed if name == key else name, value) for name, value in container.items()]
        container.clear()
        container.update(items)
    return document


def move_value(generator: random.Random, document: Any) -> Any:
    """Something of the document in a place where something else was."""
    container, key = _place(generator, document)
    other, name = _place(generator, document)
    if container is not None and other is not None:
        container[key] = copy.deepcopy(other[name])
    return document


def nest(generator: random.Random, document: Any) -> Any:
    container, key = _place(generator, document)
    if container is not None:
        for _ in range(generator.choice([3, 50, 250])):
            container[key] = [container[key]] if generator.random() < 0.5 else {"a": container[key]}
    return document


def change_parents(generator: random.Random, document: Any) -> Any:
    """Circles, nodes that are their own parents, parents that are nowhere (for construct.json; elsewhere values are swapped)."""
    if not isinstance(document, dict) or not document:
        return document
    names = list(document)
    for _ in range(generator.randint(1, 1 + len(names) // 2)):
        parent = generator.choice([*names, *WEIRD_NAMES, None])
        document[generator.choice(names)] = generator.choice([parent, [parent, generator.choice([0, 1, 2, -1, 2 ** 40, "1", None])]])
    return document


def cut(generator: random.Random, text: bytes) -> bytes:
    return text[:generator.randint(0, len(text))]


def flip(generator: random.Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(generator.choice([1, 1, 5, 100])):
        if changed:
            changed[generator.randrange(len(changed))] = generator.randrange(256)
    return bytes(changed)


def insert(generator: random.Random, text: bytes) -> bytes:
    at = generator.randint(0, len(text))
    pieces = [b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"\xef\xbb\xbf", b"\x00", b"[" * 3000, b'{"a":' * 2000, b'"', b"\\ud800",
              b"\xff\xfe", b",", b"//x", b"\x7f", text[at:at + 200]]
    return text[:at] + generator.choice(pieces) + text[at:]


def repeat_piece(generator: random.Random, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    at = generator.randrange(len(lines)) if lines else 0
    return b"".join(lines[:at + 1] + lines[at:])


ON_DOCUMENTS: tuple[Change, ...] = (replace_value, replace_value, replace_value, remove_value, rename_key, move_value, nest, change_parents)
ON_TEXTS: tuple[Change, ...] = (cut, flip, insert, repeat_piece)


def damage(generator: random.Random, documents: dict[str, Any], folder: Path) -> list[str]:
    """Write a rank directory with one to four damages; returns what was done, for the report of a failure."""
    documents = copy.deepcopy(documents)
    done = []
    texts: dict[str, bytes] = {}
    for _ in range(generator.randint(1, 4)):
        name = generator.choice(list(documents))
        change = generator.choice((*ON_DOCUMENTS, *ON_TEXTS))
        done.append(f"{name}: {change.__name__}")
        if change in ON_TEXTS:
            texts[name] = change(generator, texts.get(name, _text(generator, documents[name])))
        elif name not in texts:
            documents[name] = change(generator, documents[name])
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        (folder / name).write_bytes(texts.get(name, _text(generator, document)))
    return done


def _text(generator: random.Random, document: Any) -> bytes:
    return json.dumps(document, indent=generator.choice([None, 1])).encode("utf-8", "surrogatepass")
