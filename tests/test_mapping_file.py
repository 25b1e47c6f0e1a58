"""The mapping file: what it says is what was typed, and every mistake is one message with file, line and column."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.errors import UserError
from converter.match.mapping_file import parse_mapping, read_mapping
from converter.match.mapping_invert import invert_mapping
from converter.match.mapping_pattern import advance, complete, literal_path, matches_path, parse_pattern, substitute
from converter.match.mapping_rules import MappingFile
from converter.match.mapping_write import write_mapping
from converter.match.pairing import Layout, Relation

DOCUMENTATION = (Path(__file__).parent.parent / "docs" / "mapping.md").read_text(encoding="utf-8")


def rules(text: str) -> list[tuple[str, str, str]]:
    return [(rule.scope.label, rule.source_text, rule.destination_text) for rule in parse_mapping(text, "map.yaml").rules]


# ------------------------------------------------------------------------------------------------ what is typed is what is meant

def test_the_peers_format_reads_as_it_stands() -> None:
    text = "TopLayer:\n  0.module: module\nGPTModel:\n  decoder.layers: layers\n  embedding.word_embeddings: embed_tokens(Embedding)\n"
    assert rules(text) == [("TopLayer", "0.module", "module"), ("GPTModel", "decoder.layers", "layers"),
                           ("GPTModel", "embedding.word_embeddings", "embed_tokens")]


def test_cell_is_the_old_name_of_toplayer() -> None:
    assert rules("Cell: {a: b}") == [("TopLayer", "a", "b")]


@pytest.mark.parametrize("key", ["0", "012", "1.5", "1e3", "on", "yes", "null", "0x1F", "2024-01-01", "~", "true"])
def test_keys_and_values_mean_their_text_whatever_yaml_makes_of_them(key: str) -> None:
    assert rules(f"{key}:\n  {key}: x\n  y: '{key}'\n") == [(key, key, "x"), (key, "y", key)]


@pytest.mark.parametrize("value", ["0", "012", "1.5", "on", "no", "true"])
def test_plain_values_mean_their_text(value: str) -> None:
    assert rules(f"A:\n  x: {value}\n") == [("A", "x", value)]


def test_a_list_is_one_to_many_by_concatenation() -> None:
    rule = parse_mapping("SelfAttention: {linear_qkv: [q_proj, k_proj, v_proj]}", "m").rules[0]
    assert len(rule.destinations) == 3 and rule.relation == Relation.CONCAT and not rule.gather


def test_a_list_on_the_left_is_many_to_one() -> None:
    rule = parse_mapping("Qwen2MLP:\n  [gate_proj, up_proj]: linear_fc1\n", "m").rules[0]
    assert len(rule.sources) == 2 and rule.gather and rule.destination_text == "linear_fc1"


def test_the_long_form_gives_relation_and_layout() -> None:
    text = "A: {qkv: {to: [q, k, v], relation: concat, layout: per_group, heads: 28, kv_heads: 4}, e: {to: [a, b], relation: stack}}"
    first, second = parse_mapping(text, "m").rules
    assert first.layout == Layout("per_group", 28, 4, 0) and second.relation == Relation.STACK


def test_an_empty_list_says_that_there_is_no_counterpart() -> None:
    assert parse_mapping("A: {x: []}", "m").rules[0].destinations == ()


def test_a_list_of_one_is_a_single_name() -> None:
    rule = parse_mapping("A: {x: [y]}", "m").rules[0]
    assert rule.relation == Relation.SAME and rule.destination_text == "y"


def test_switches_and_sections() -> None:
    mapping = parse_mapping("invert: true\noptional: yes\nwrappers: ignore\nclasses: {A: B}\n"
                            "parameters: {'*': {gamma: weight}, C: {scale: w}}\nA: {}\n", "m")
    assert (mapping.invert, mapping.optional, mapping.ignore_wrappers) == (True, True, True)
    assert mapping.classes == (("A", "B"),)
    aliases = [(alias.class_name, alias.source, alias.destination) for alias in mapping.parameters]
    assert aliases == [("", "gamma", "weight"), ("C", "scale", "w")]


def test_a_scope_with_a_path() -> None:
    mapping = parse_mapping("scopes:\n- path: visual.**\n  class: MLP\n  rules: {fc1: up}\n- path: TopLayer.a\n  rules: {b: c}\n", "m")
    first, second = (rule.scope for rule in mapping.rules)
    assert (first.class_name, first.anchored, first.label) == ("MLP", False, "visual.** MLP")
    assert second.anchored and literal_path(second.path or ()) == ("a",)


def test_blocks_may_be_shared_by_alias_and_merge_and_own_keys_win() -> None:
    text = "A: &a\n  x: y\n  z: w\nB: *a\nC:\n  <<: *a\n  z: other\n"
    assert rules(text) == [("A", "x", "y"), ("A", "z", "w"), ("B", "x", "y"), ("B", "z", "w"), ("C", "z", "other"), ("C", "x", "y")]


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfA:\n  x: y\n", b"A:\r\n  x: y\r\n", b"A:\r  x: y\r"], ids=["BOM", "CRLF", "CR"])
def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path, data: bytes) -> None:
    path = tmp_path / "map.yaml"
    path.write_bytes(data)
    assert [rule.source_text for rule in read_mapping(str(path)).rules] == ["x"]


def test_a_rule_knows_its_line_for_messages() -> None:
    assert parse_mapping("A:\n\n  # note\n  x: y\n", "m").rules[0].label == "rule A.x (line 4)"


def test_a_template_is_found_by_name_and_can_be_turned_round() -> None:
    plain, turned = read_mapping("megatron_core_to_hf_qwen2"), read_mapping("invert:megatron_core_to_hf_qwen2.yaml")
    assert plain.rules == turned.rules and not plain.invert and turned.invert


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", DOCUMENTATION, re.DOTALL))
def test_the_examples_of_the_documentation_are_read(example: str) -> None:
    mapping = parse_mapping(example, "docs/mapping.md")
    assert mapping.rules or mapping.parameters


# ------------------------------------------------------------------------------------------------ mistakes

MISTAKES = [
    ("", "m.yaml: the file holds no rules"),
    ("# only a comment\n", "m.yaml: the file holds no rules"),
    ("just text", "m.yaml, line 1, column 1: a mapping file holds classes"),
    ("- a\n", "m.yaml, line 1, column 1: a mapping file holds classes"),
    ("A:\n", "m.yaml, line 1, column 3: A holds rules, written 'name: counterpart', but nothing stands here"),
    ("A: text\n", "m.yaml, line 1, column 4: A holds rules, written 'name: counterpart', but 'text' stands here"),
    ("A: [x]\n", "m.yaml, line 1, column 4: A holds rules, written 'name: counterpart', but a list stands here"),
    ("A:\n  x:\n", "m.yaml, line 2, column 5: the counterpart of 'x' is missing"),
    ("A:\n  x: null\n", "m.yaml, line 2, column 6: 'null' is no name: write [] if 'x' has no counterpart"),
    ("A:\n  x: y\n  x: z\n", "m.yaml, line 3, column 3: 'x' is used twice here, first in line 2"),
    ("A:\n  0: y\n  '0': z\n", "m.yaml, line 3, column 3: '0' is used twice here, first in line 2"),
    ("A:\n  x: y\n  x(K): z\n", "m.yaml, line 3, column 3: 'x' of A has a rule in line 2 already"),
    ("A: {x: y}\nB: {}\nA: {z: y}\n", "m.yaml, line 3, column 1: 'A' is used twice here, first in line 1"),
    ("Cell: {a: b}\nTopLayer: {c: d}\n", "m.yaml, line 2, column 1: 'Cell' is the old name of 'TopLayer'"),
    ("A:\n\tx: y\n", "m.yaml, line 2, column 1: a tab stands where YAML wants spaces"),
    ("A:\n  x:\ty: z\n", "m.yaml, line 2, column 5: a tab stands where YAML wants spaces"),
    ("A:\n  x: y: z\n", "m.yaml, line 2, column 7: a second ': ' or wrong indentation"),
    ("A:\n  x: y\n b: c\n", "m.yaml, line 3, column 2: the indentation does not fit"),
    ("A:\n  x: y\nB\n", "m.yaml, line 3, column 1: this line has no ': '"),
    ("A:\n  x: {i+1}\n", "m.yaml, line 2, column 6: a counterpart that begins with '{' needs quotes: write \"{i+1}\""),
    ("A:\n  {i}: x\n", "m.yaml, line 2, column 3: a key that begins with '{' needs quotes"),
    ("A:\n  *x: y\n", "m.yaml, line 2, column 3: a text that begins with '*' needs quotes"),
    ("A:\n  x: y\n---\nB:\n  x: y\n", "m.yaml, line 3, column 1: a second document begins here"),
    ("A:\n  x: !!python/name:os.system y\n", "m.yaml, line 2, column 6: the tag tag:yaml.org,2002:python/name:os.system means nothing"),
    ("A: &a {<<: *a}\n", "m.yaml, line 1, column 4: this block is merged into itself"),
    ("A: {<<: text}\n", "m.yaml, line 1, column 9: '<<' wants a block of"),
    ("A:\n  x..y: z\n", "m.yaml, line 2, column 3: 'x..y' has an empty component"),
    ("A:\n  x: .y\n", "m.yaml, line 2, column 6: '.y' has an empty component"),
    ("A:\n  x: a | \n", "m.yaml, line 2, column 6: 'a |' has an empty alternative"),
    ("A:\n  x**: y\n", "m.yaml, line 2, column 3: '**' in 'x**' must be a component of its own"),
    ("A:\n  x.{i: y\n", "m.yaml, line 2, column 3: 'x.{i' has a single brace"),
    ("A:\n  x.{i*2}: y\n", "m.yaml, line 2, column 3: '{i*2}' in 'x.{i*2}' cannot be read"),
    ("A:\n  x: y.{i}\n", "m.yaml, line 2, column 6: '{i}' is not in the name before the colon"),
    ("A:\n  x: '*'\n", "m.yaml, line 2, column 6: the counterpart has more '*' than the name before the colon"),
    ("A:\n  [x, y]: [z, w]\n", "m.yaml, line 2, column 3: a list on the left wants one single name on the right"),
    ("A:\n  x: [[y]]\n", "m.yaml, line 2, column 7: a name in this list must be a name, but a list stands here"),
    ("A:\n  x: {to: [a, b], relatoin: sum}\n",
     "m.yaml, line 2, column 19: 'relatoin' means nothing in the rule of 'x': did you mean 'relation'?"),
    ("A:\n  x: {to: [a, b], relation: concatt}\n", "m.yaml, line 2, column 29: relation 'concatt' is not known: did you mean 'concat'?"),
    ("A:\n  x: {to: y, relation: sum}\n", "m.yaml, line 2, column 14: 'relation' is for one name against several"),
    ("A:\n  x: {relation: sum}\n", "m.yaml, line 2, column 6: the rule of 'x' has no 'to'"),
    ("A:\n  x: {to: [a, b], layout: rows}\n", "m.yaml, line 2, column 27: layout 'rows' is not known"),
    ("A:\n  x: {to: [a, b], heads: 4}\n", "m.yaml, line 2, column 19: 'heads' belongs to a layout"),
    ("A:\n  x: {to: [a, b], layout: stacked, heads: 4}\n", "m.yaml, line 2, column 36: 'heads' does not belong to layout 'stacked'"),
    ("A:\n  x: {to: [a, b], layout: per_shard, shards: two}\n",
     "m.yaml, line 2, column 46: 'shards' must be a whole number above 0, not 'two'"),
    ("A:\n  x: {to: [a, b], layout: per_group, heads: 6, kv_heads: 4}\n",
     "m.yaml, line 2, column 38: heads (6) must be a multiple of kv_heads (4)"),
    ("invert: maybe\n", "m.yaml, line 1, column 9: 'invert' is true or false"),
    ("wrappers: drop\n", "m.yaml, line 1, column 11: 'wrappers' is 'ignore' or 'keep'"),
    ("scopes: {a: b}\n", "m.yaml, line 1, column 9: 'scopes' is a list"),
    ("scopes:\n- rules: {a: b}\n", "m.yaml, line 2, column 3: this scope needs a 'path', a 'class' or both"),
    ("scopes:\n- path: a\n", "m.yaml, line 2, column 3: this scope has no 'rules'"),
    ("scopes:\n- path: a\n  clas: B\n  rules: {}\n", "m.yaml, line 3, column 3: 'clas' means nothing in a scope: did you mean 'class'?"),
    ("parameters: {a: b}\n", "m.yaml, line 1, column 17: 'a' in 'parameters' holds 'name: name'"),
    ("classes:\n  A:\n", "m.yaml, line 2, column 5: the counterpart of class A is missing"),
    ("[A, B]: {x: y}\n", "m.yaml, line 1, column 1: a list cannot stand here"),
    ("A:\n  x: \x07\n", "m.yaml, line 2, column 6: character U+0007 is not allowed in YAML"),
    ("[" * 1200, "m.yaml: the file is nested too deeply"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[message[8:60] for _, message in MISTAKES])
def test_a_mistake_is_named_with_its_place_and_what_to_do(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_mapping(text, "m.yaml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("data", "message"), [
    (b"A:\n  x: caf\xe9\n", "line 2, column 9: byte 0xE9 is not UTF-8: save the file as UTF-8"),
    ("A: {x: y}".encode("utf-16"), "line 1, column 1: the file is encoded as UTF-16: save it as UTF-8"),
    ("A:\n  x: 层".encode("gbk"), "line 2, column 6: byte 0xB2 is not UTF-8: save the file as UTF-8"),
])
def test_another_encoding_is_named(tmp_path, data: bytes, message: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_bytes(data)
    with pytest.raises(UserError) as caught:
        read_mapping(str(path))
    assert str(caught.value) == f"{path}, {message}"


def test_a_missing_file_and_a_directory_are_named(tmp_path) -> None:
    with pytest.raises(UserError, match="does not exist: check the path"):
        read_mapping(str(tmp_path / "none.yaml"))
    with pytest.raises(UserError, match="is a directory"):
        read_mapping(str(tmp_path))
    with pytest.raises(UserError, match="did you mean the template 'megatron_core_to_hf_mixtral'"):
        read_mapping("megatron_core_to_hf_mixtrall")


# ------------------------------------------------------------------------------------------------ patterns

names = st.text("abcxyz01_", min_size=1, max_size=4)
holes = st.sampled_from(["*", "?", "{i}", "{i+2}", "{j}"])
components = st.one_of(names, st.just("**"), st.tuples(st.sampled_from(["", "l", "x_"]), holes).map("".join))


def bindings_of(pattern, path):
    """All ways in which a pattern covers a path."""
    states = [(0, ())]
    for segment in path:
        states = [moved for position, held in states if position < len(pattern) for moved in advance(pattern, position, segment, held)]
    return [held for position, own in states if (held := complete(pattern, position, own)) is not None]


@settings(deadline=None)
@given(st.lists(components, min_size=1, max_size=4), st.lists(names, max_size=6))
def test_filling_a_pattern_with_what_it_held_gives_the_path_again(parts: list[str], path: list[str]) -> None:
    pattern = parse_pattern(".".join(parts))
    found = bindings_of(pattern, tuple(path))
    assert bool(found) == matches_path(pattern, tuple(path))
    for held in found:
        filled = substitute(pattern, held)
        assert filled is not None and literal_path(filled) == tuple(path)


@pytest.mark.parametrize(("pattern", "path", "covers"), [
    ("a.*.c", "a.b.c", True), ("a.*.c", "a.c", False), ("a.**.c", "a.c", True), ("a.**.c", "a.b.b.c", True), ("**", "", True),
    ("1?", "12", True), ("1?", "1", False), ("1?", "123", False), ("l{i}", "l10", True), ("l{i}", "l010", False), ("{i+10}", "9", False),
    ("{i}.{i}", "3.3", True), ("{i}.{i}", "3.4", False), ("mlp.gate", "mlp.gate_up_proj", False), ("layers.1", "layers.10", False),
])
def test_wildcards_work_on_whole_components(pattern: str, path: str, covers: bool) -> None:
    assert matches_path(parse_pattern(pattern), tuple(path.split(".")) if path else ()) == covers


# ------------------------------------------------------------------------------------------------ writing and inverting

class_names = st.sampled_from(["TopLayer", "A", "B", "layers", "on", "0"])
words = st.sampled_from(["a", "b", "0", "012", "1.5", "on", "linear_qkv", "模块", "x y", "a.b", "l.{i}", "l.{i+3}", "w.*", "d.**", "1?"])


@st.composite
def mapping_files(draw) -> MappingFile:
    text = ["classes: {A: P, B: Q, layers: blocks, 'on': '1', '0': 'off'}"]
    for class_name in draw(st.lists(class_names, min_size=1, unique=True)):
        text.append(f"'{class_name}':")
        keys = draw(st.lists(words, min_size=1, max_size=4, unique=True))
        values = draw(st.permutations(keys))
        same_holes = {"l.{i}": "m.{i+10}", "l.{i+3}": "n.{i}", "w.*": "v.*", "d.**": "e.**", "1?": "2?"}
        taken = set()
        for key, value in zip(keys, values):
            value = same_holes.get(key, value if value not in same_holes else "plain_" + key)
            if value in taken:
                continue
            taken.add(value)
            form = draw(st.integers(0, 3)) if key not in same_holes else 0
            text.append({0: f"  '{key}': '{value}'", 1: f"  '{key}': {{to: ['{value}', 'o_{key}'], relation: sum}}",
                         2: f"  '{key} | p{key}': '{value}'", 3: f"  ['{key}', 'r{key}']: {{to: '{value}', layout: stacked}}"}[form])
    if draw(st.booleans()):
        text.append("scopes: [{path: 'v.**', to_path: 'w.*', class: A, to_class: Z, rules: {f: g}}, "
                    "{path: TopLayer.t, to_path: u, rules: {h: k}}]")
    if draw(st.booleans()):
        text.append("parameters: {'*': {gamma: weight}, A: {scale: w}}")
    text.append(f"invert: {draw(st.sampled_from(['true', 'false']))}")
    return parse_mapping("\n".join(text), "drawn")


@settings(deadline=None)
@given(mapping_files())
def test_a_written_file_reads_back_as_the_same_rules(mapping: MappingFile) -> None:
    assert parse_mapping(write_mapping(mapping, "a header\nof two lines"), "again") == mapping


@settings(deadline=None)
@given(mapping_files())
def test_inverting_twice_gives_the_same_rules_again(mapping: MappingFile) -> None:
    once = invert_mapping(mapping)
    assert once.exact, once
    twice = invert_mapping(once.mapping)
    assert twice.exact and twice.mapping == mapping
    assert parse_mapping(write_mapping(once.mapping), "again") == once.mapping


@pytest.mark.parametrize(("text", "reason"), [
    ("A: {x: y}", "rule A.x (line 1) cannot be inverted: the counterpart of class 'A' is not known; add 'A: …' to 'classes'"),
    ("TopLayer: {x: ''}", "it removes a level"),
    ("TopLayer: {'*_norm': norm}", "its counterpart has fewer wildcards or numbers"),
    ("TopLayer: {x: z, y: z}", "'z' of TopLayer would be given twice, also by line 1"),
    ("scopes: [{path: a, rules: {x: y}}]", "the counterpart of path 'a' is not known; add 'to_path' to its scope"),
    ("parameters: {A: {x: y}}", "parameter 'x' cannot be inverted: the counterpart of class 'A' is not known"),
])
def test_a_rule_that_cannot_be_inverted_is_named(text: str, reason: str) -> None:
    problems = invert_mapping(parse_mapping(text, "m")).problems
    assert len(problems) == 1 and reason in problems[0].message


def test_what_the_inverse_need_not_say_is_a_note() -> None:
    inverse = invert_mapping(parse_mapping("TopLayer: {x: [], a: b}", "m"))
    assert not inverse.problems and [rule.source_text for rule in inverse.mapping.rules] == ["b"]
    assert "says that there is no counterpart" in inverse.notes[0].message


def test_names_that_other_readers_take_for_numbers_are_quoted() -> None:
    mapping = parse_mapping("A: {'0': '1.5', on: x, 0.module: module}", "m")
    assert write_mapping(replace(mapping, name="")) == 'A:\n  "0": "1.5"\n  "on": x\n  0.module: module\n'
