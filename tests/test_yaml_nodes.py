"""YAML nodes: libyaml and PyYAML's own parser give the same ones, in the same lines."""

from __future__ import annotations

import contextlib
import gc
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.errors import UserError
from converter.yaml_nodes import compose_alike
from converter.yaml_source import compose

TOKENS = ("a", "b: ", "x: y\n", "\n", "\n  ", "- ", "[", "]", "{", "}", ", ", ": ", ":", "?", "? ", "*", "&k ", "*k", '"', "'", "#",
          " # c\n", "\t", "|\n  ", "> ", "!", "!x ", "!!str ", "%", "---\n", "...\n", "é", "\u2028", "\x85", "\ufeff", "\r\n", "~", "1",
          "on", "<<: ")

needs_libyaml = pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")


def outline(node: Any) -> Any:
    """Kind, tag, text, style and place of a node and of all below it; not the place of an empty value: the parsers differ in blanks."""
    if node is None:
        return None
    place = (node.start_mark.line, node.start_mark.column)
    if isinstance(node, yaml.ScalarNode):
        return (node.tag, node.value, node.style or "", place if node.value else None)
    below = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
    return (type(node).__name__, node.tag, bool(node.flow_style), place, [outline(part) for part in below])


@needs_libyaml
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=9).map("".join))
def test_both_parsers_give_the_same_nodes_and_refuse_the_same_texts(text: str) -> None:
    try:
        expected = outline(yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as problem:
        with pytest.raises(type(problem)) as caught:
            compose_alike(text)
        assert str(caught.value) == str(problem)
        return
    assert outline(compose_alike(text)) == expected


@needs_libyaml
def test_a_large_file_is_not_read_by_the_slow_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"- {{action: match, target: [Module.{i}], note: 'why? it differs!'}}\n" for i in range(3))
    plain = "matches:\n" + "".join(f"- target:\n  - Module.{i}\n  note: why? it differs!\n" for i in range(3)) + "triage: []\n"
    expected = [outline(yaml.compose(each, Loader=yaml.SafeLoader)) for each in (text.replace("?", ""), plain)]
    monkeypatch.setattr(yaml, "compose", None)
    assert [outline(compose_alike(each)) for each in (text.replace("?", ""), plain)] == expected


def test_garbage_is_collected_again_after_a_file_was_read_or_refused() -> None:
    gc.enable()  # another test may have called a program that ends without collecting
    for text in ("a: b\n", "a: [b\n", "a: *b\n"):
        with contextlib.suppress(UserError):
            compose(text, "m.yaml")
        assert gc.isenabled()


def test_without_libyaml_the_nodes_and_the_messages_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("a: {b: [c, 'd']}\n", "", "k: &x {a: b}\nl: *x\n", "x: |\n  two\n  lines\n")
    broken = ("a: b\n  c: d\n", "a: [b\n", "a: *b\n", "a: b: c\n", "{a?b: c}\n", "a: \x07\n", "[" * 1500)
    with_libyaml = [outline(compose(text, "m.yaml")) for text in texts], [_refused(text) for text in broken]
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert ([outline(compose(text, "m.yaml")) for text in texts], [_refused(text) for text in broken]) == with_libyaml


def _refused(text: str) -> str:
    with pytest.raises(UserError) as caught:
        compose(text, "m.yaml")
    return str(caught.value)
