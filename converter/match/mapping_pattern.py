"""Patterns of the mapping language: dotted paths whose components may hold wildcards and numbers.

A component is literal text, `**` (any number of components, none included), or text with holes: `*` (any characters),
`?` (one character), `{i}`, `{i+10}`, `{i-10}` (a number without leading zeros; the same letter means the same number).
What the holes of a key held goes into the holes of its value: the k-th `*` into the k-th `*`, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Union

from converter.messages import message

DEEP = "**"

_HOLE = re.compile(r"\*|\?|\{[^{}]*\}")
_NUMBER_HOLE = re.compile(r"\{\s*([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+)\s*)?\}")
_NUMBER = r"(0|[1-9]\d*)"


class Hole(NamedTuple):
    """A gap in a component. `kind` is `*`, `?`, `**` or the name of a number; a number in the path is the named one plus `offset`."""

    kind: str
    offset: int = 0


class Binding(NamedTuple):
    """What one hole of a key held: text for `*` and `?`, components for `**`, the number itself for a name."""

    kind: str
    value: Union[str, int, tuple[str, ...]]


Bindings = tuple[Binding, ...]


class Component(NamedTuple):
    """One component of a pattern, taken apart into literal text and holes."""

    text: str
    literal: bool
    pieces: tuple[Union[str, Hole], ...]

    @property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Hole))


Pattern = tuple[Component, ...]


class PatternError(ValueError):
    """A pattern that cannot be read; the text says why and what to write."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told = told


def parse_pattern(text: str) -> Pattern:
    """Read a dotted pattern. An empty text is the empty pattern.

    Raises:
        PatternError: an empty component, a brace that is no number, `**` joined with other text.
    """
    if not text:
        return ()
    return tuple(_component(part.strip(), text) for part in text.split("."))


def _component(part: str, whole: str) -> Component:
    if not part:
        raise PatternError(message("mapping.empty_component", "'{text}' has an empty component: dots stand between two names only",
                                   text=whole))
    if part == DEEP:
        return Component(part, False, (Hole(DEEP),))
    if DEEP in part:
        raise PatternError(message("mapping.double_star",
                                   "'**' in '{text}' must be a component of its own: write '**' between two dots, or '*' inside a name",
                                   text=part))
    pieces: list[Union[str, Hole]] = []
    position = 0
    for found in _HOLE.finditer(part):
        if found.start() > position:
            pieces.append(part[position:found.start()])
        pieces.append(_hole(found.group(), whole))
        position = found.end()
    if position < len(part):
        pieces.append(part[position:])
    for piece in pieces:
        if isinstance(piece, str) and ("{" in piece or "}" in piece):
            raise PatternError(message("mapping.single_brace", "'{text}' has a single brace: a number is written {i}, {i+10} or {i-10}",
                                       text=whole))
    return Component(part, not any(isinstance(piece, Hole) for piece in pieces), tuple(pieces))


def _hole(text: str, whole: str) -> Hole:
    if text in ("*", "?"):
        return Hole(text)
    number = _NUMBER_HOLE.fullmatch(text)
    if number is None:
        raise PatternError(message("mapping.bad_number",
                                   "'{number}' in '{text}' cannot be read: a number is written {i}, {i+10} or {i-10}",
                                   number=text, text=whole))
    offset = int(number.group(3) or 0)
    return Hole(number.group(1), -offset if number.group(2) == "-" else offset)


def literal_path(pattern: Pattern) -> tuple[str, ...]:
    """The components' texts."""
    return tuple(component.text for component in pattern)


def match_component(component: Component, segment: str, bindings: Bindings) -> Bindings | None:
    """Match one component other than `**` with one path component; the bindings with its own added, or None."""
    if component.literal:
        return bindings if segment == component.text else None
    found = _expression(component).fullmatch(segment)
    if found is None:
        return None
    for hole, text in zip(component.holes, found.groups()):
        if hole.kind in ("*", "?"):
            bindings = (*bindings, Binding(hole.kind, text))
            continue
        number = int(text) - hole.offset
        known = next((binding.value for binding in bindings if binding.kind == hole.kind), None)
        if number < 0 or known not in (None, number):
            return None
        if known is None:
            bindings = (*bindings, Binding(hole.kind, number))
    return bindings


_expressions: dict[Component, re.Pattern[str]] = {}


def _expression(component: Component) -> re.Pattern[str]:
    known = _expressions.get(component)
    if known is None:
        parts = {"*": "(.*)", "?": "(.)"}
        text = "".join(re.escape(piece) if isinstance(piece, str) else parts.get(piece.kind, _NUMBER) for piece in component.pieces)
        known = _expressions[component] = re.compile(text, re.DOTALL)
    return known


def advance(pattern: Pattern, position: int, segment: str, bindings: Bindings) -> Iterator[tuple[int, Bindings]]:
    """All ways in which a pattern that was matched up to `position` goes on over one more path component.

    Yields the new position and bindings. While a `**` is being filled, its binding is the last one and grows.
    """
    component = pattern[position]
    if component.text != DEEP:
        matched = match_component(component, segment, bindings)
        if matched is not None:
            yield position + 1, matched
        return
    filled: tuple[str, ...] = ()
    rest = bindings
    if bindings and bindings[-1].kind == DEEP and _deep_count(bindings) > _deep_before(pattern, position):
        value = bindings[-1].value
        assert isinstance(value, tuple)
        filled, rest = value, bindings[:-1]
    yield position, (*rest, Binding(DEEP, (*filled, segment)))
    if position + 1 < len(pattern):
        yield from advance(pattern, position + 1, segment, (*rest, Binding(DEEP, filled)))


def _deep_count(bindings: Bindings) -> int:
    return sum(binding.kind == DEEP for binding in bindings)


def _deep_before(pattern: Pattern, position: int) -> int:
    return sum(component.text == DEEP for component in pattern[:position])


def complete(pattern: Pattern, position: int, bindings: Bindings) -> Bindings | None:
    """The bindings if nothing but empty `**` is left of the pattern at `position`, else None."""
    if any(component.text != DEEP for component in pattern[position:]):
        return None
    missing = _deep_before(pattern, len(pattern)) - _deep_count(bindings)
    return bindings + (Binding(DEEP, ()),) * missing


def matches_path(pattern: Pattern, path: tuple[str, ...]) -> bool:
    """True if the pattern covers the whole path."""
    states: list[tuple[int, Bindings]] = [(0, ())]
    for segment in path:
        after: dict[int, Bindings] = {}
        for position, bindings in states:
            if position < len(pattern):
                for moved, more in advance(pattern, position, segment, bindings):
                    after.setdefault(moved, more)
        states = list(after.items())
        if not states:
            return False
    return any(complete(pattern, position, bindings) is not None for position, bindings in states)


def substitute(pattern: Pattern, bindings: Bindings) -> Pattern | None:
    """Fill the holes of a value with what the key held. Holes without a counterpart stay; None if a number would be negative."""
    held: dict[str, list[Union[str, int, tuple[str, ...]]]] = {}
    for binding in bindings:
        held.setdefault(binding.kind, []).append(binding.value)
    used: dict[str, int] = {}
    filled: list[Component] = []
    for component in pattern:
        if component.text == DEEP and used.get(DEEP, 0) < len(held.get(DEEP, ())):
            inner = held[DEEP][used.get(DEEP, 0)]
            assert isinstance(inner, tuple)
            used[DEEP] = used.get(DEEP, 0) + 1
            filled.extend(Component(text, True, (text,)) for text in inner)
            continue
        pieces: list[Union[str, Hole]] = []
        for piece in component.pieces:
            if isinstance(piece, str):
                pieces.append(piece)
            elif piece.kind in ("*", "?", DEEP):
                values = held.get(piece.kind, [])
                number = used.get(piece.kind, 0)
                used[piece.kind] = number + 1
                pieces.append(str(values[number]) if number < len(values) else piece)
            else:
                value = held[piece.kind][0]
                assert isinstance(value, int)
                if value + piece.offset < 0:
                    return None
                pieces.append(str(value + piece.offset))
        if all(isinstance(piece, str) for piece in pieces):
            text = "".join(piece for piece in pieces if isinstance(piece, str))
            filled.append(Component(text, True, (text,)))
        else:
            filled.append(Component(component.text, False, tuple(pieces)))
    return tuple(filled)


def hole_counts(pattern: Pattern) -> dict[str, int]:
    """How often each kind of hole occurs; a number counts once however often it is named."""
    counts: dict[str, int] = {}
    for component in pattern:
        if component.literal:
            continue  # most are
        for hole in component.holes:
            counts[hole.kind] = counts.get(hole.kind, 0) + 1 if hole.kind in ("*", "?", DEEP) else 1
    return counts
