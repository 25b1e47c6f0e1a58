"""The node graph of YAML text: by libyaml where PyYAML was built with it (eight times as fast), else by PyYAML's own parser.

Both give the same nodes with the same lines. Which of them has read a file must not be seen, so texts that they read differently,
and all that are wrong, are PyYAML's own.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator
from typing import Union, cast

import yaml
from yaml.composer import Composer
from yaml.resolver import Resolver

Node = Union[yaml.ScalarNode, yaml.SequenceNode, yaml.MappingNode]

# libyaml takes tabs as blanks in more places, a byte order mark anywhere, '?' within braces, and another meaning for a lone '!'.
_BEGINS_OTHERWISE = re.compile(r"(?m:^|[\s,\[\]{}:?-])[?!]")
_BRACES = re.compile(r"(?m:^|[\s,\[{:-])[\[{](?![\]}])")

if yaml.__with_libyaml__:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]

    class _Libyaml(Composer, CParser, Resolver):
        """libyaml's events, composed by PyYAML: CParser's own composing recurses in C, where deep nesting ends the process."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Composer.__init__(self)
            Resolver.__init__(self)


def compose_alike(text: str) -> Node | None:
    """The root node; None for an empty document. An empty value within braces may be placed some blanks apart by the two parsers.

    Raises:
        yaml.YAMLError: as PyYAML's own parser.
        RecursionError: nested too deeply.
    """
    if yaml.__with_libyaml__ and _is_read_alike(text):
        try:
            with collections_put_off():
                return cast("Union[Node, None]", _Libyaml(text).get_single_node())
        except (yaml.YAMLError, UnicodeError):
            pass  # PyYAML's own parser says why
    return cast("Union[Node, None]", yaml.compose(text, Loader=yaml.SafeLoader))


@contextlib.contextmanager
def collections_put_off() -> Iterator[None]:
    """While very many objects are made that all stay: looking among them for garbage takes longer than making them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _is_read_alike(text: str) -> bool:
    if "\t" in text or "\ufeff" in text:
        return False
    if "?" not in text and "!" not in text:
        return True
    return not _BEGINS_OTHERWISE.search(text) and not ("?" in text and _BRACES.search(text))


def is_plain(node: Node) -> bool:
    """True for a scalar without quotes and not a block of lines."""
    return isinstance(node, yaml.ScalarNode) and not node.style
