"""Nothing about a mapping file is silent: hits, conflicts, unknown names, rules that hit nothing."""

from __future__ import annotations

import difflib

import pytest
from trees import model_tree, paths

from converter.errors import UserError
from converter.match.mapping import MappingMatch, match_by_mapping
from converter.match.mapping_file import parse_mapping
from converter.match.mapping_report import MOST_TOLD, first_unknown, refuse_unknown
from converter.match.mapping_rules import empty_mapping
from converter.tree.columns import Tree


def match(target: Tree, golden: Tree, text: str, **options: object) -> MappingMatch:
    return match_by_mapping(target, golden, parse_mapping(text, "map.yaml"), **options)  # type: ignore[arg-type]


def test_hits_say_what_each_rule_took_part_in() -> None:
    target, golden = model_tree([("a", "A"), ("a.x", "X"), ("a.x.y", "L")]), model_tree([("a", "A"), ("a.z", "X"), ("a.z.y", "L")])
    found = match(target, golden, "A:\n  x: z\n  other: thing\n")
    assert [(hit.line, hit.hits) for hit in found.rules] == [(2, 6), (3, 0)] and found.direct_hits == [3, 0]
    assert {pair.evidence for pair in found.pairs()} == {"same name", "rule A.x (line 2)", "same name below rule A.x (line 2)"}


def test_two_rules_that_claim_one_module_are_an_error_that_names_both() -> None:
    target, golden = model_tree([("a", "A"), ("a.x", "L"), ("a.y", "L")]), model_tree([("a", "A"), ("a.z", "L")])
    with pytest.raises(UserError) as caught:
        match(target, golden, "A:\n  x: z\n  y: z\n")
    assert str(caught.value) == ("map.yaml, line 3, column 3: two target modules claim the golden module a.z: a.x by rule A.x (line 2) and "
                                 "a.y by rule A.y (line 3). Change one of them; a list joins several modules to one")


def test_a_group_and_a_rule_that_claim_one_module_are_an_error() -> None:
    target, golden = model_tree([("a", "A"), ("a.qk", "L"), ("a.r", "L")]), model_tree([("a", "A"), ("a.q", "L"), ("a.k", "L")])
    with pytest.raises(UserError, match=r"a\.qk by rule A\.qk \(line 1\) and a\.r by rule A\.r \(line 1\)"):
        match(target, golden, "A: {qk: [q, k], r: k}")


def test_a_rule_takes_a_module_from_one_of_the_same_name_and_says_so() -> None:
    tree = model_tree([(f"layers.{i}", "B") for i in (1, 10)] + [("layers.10.f", "F"), ("layers.1.f", "F")])
    found = match(tree, tree, 'layers: {"1": "10"}')
    assert paths(tree, tree, found.pairs()) == {"layers.1": "layers.10", "layers.1.f": "layers.10.f"}
    assert found.warnings == ["map.yaml, line 1: target module layers.10 and 1 more has no counterpart, because this rule gives the golden "
                              "module of its name to another one"]


@pytest.mark.parametrize(("text", "message"), [
    ("Blok: {x: y}", "map.yaml, line 1, column 1: class 'Blok' occurs on neither side: did you mean 'Block'?"),
    ("Golden: {x: y}", "map.yaml, line 1, column 1: class 'Golden' does not occur on the target side, but on the golden side: if the file "
                       "is written for the other direction, add 'invert: true'"),
    ("scopes: [{path: net.blok, rules: {x: y}}]",
     "map.yaml, line 1, column 10: path 'net.blok' does not occur on the target side: did you mean 'net.block'?"),
])
def test_an_unknown_class_or_path_is_an_error_with_a_suggestion(text: str, message: str) -> None:
    target, golden = model_tree([("net.block", "Block")]), model_tree([("net.block", "Golden")])
    mapping = parse_mapping(text, "map.yaml")
    unknown = match_by_mapping(target, golden, mapping).unknown
    with pytest.raises(UserError) as caught:
        refuse_unknown(mapping, [unknown])
    assert str(caught.value) == message


def test_a_class_that_only_some_ranks_have_is_no_error() -> None:
    mapping = parse_mapping("Embedding: {x: y}", "m")
    first, last = model_tree([("e", "Embedding")]), model_tree([("h", "Head")])
    refuse_unknown(mapping, [match_by_mapping(tree, tree, mapping).unknown for tree in (last, first, last)])


@pytest.mark.parametrize(("text", "message"), [
    ("A: {a: a, linear_porj: out}", "no A of the target side has 'linear_porj' below it: did you mean 'linear_proj'?"),
    ("A: {a: a, linear_proj: o_prj}",
     "'linear_proj' is there, but nothing pairs with 'o_prj' below a of the golden side: did you mean 'o_proj'?"),
])
def test_a_rule_that_hit_nothing_is_a_warning_with_a_suggestion(text: str, message: str) -> None:
    target = model_tree([("a", "A"), ("a.a", "L"), ("a.linear_proj", "L")])
    golden = model_tree([("a", "A"), ("a.a", "L"), ("a.o_proj", "L")])
    assert match(target, golden, text).warnings == [f"map.yaml, line 1: the rule hit nothing: {message}"]


def test_a_rule_whose_place_another_one_takes_says_which() -> None:
    tree = model_tree([("a", "A"), ("a.x", "L")])
    found = match(tree, tree, "A:\n  x: x\nscopes:\n- path: a\n  rules:\n    x: x\n")
    assert found.warnings == ["map.yaml, line 2: the rule hit nothing: 'x' is taken by rule a.x (line 6)"]


def test_a_file_of_which_no_rule_hit_says_so_even_if_rules_are_optional() -> None:
    tree = model_tree([("a", "A")])
    question = ("map.yaml: no rule hit anything: is the file made for these two sides, in this direction? "
                "('invert: true' turns a file round)")
    found = match(tree, tree, "optional: true\nwrappers: ignore\nNowhere: {x: y}")
    assert not found.unknown and found.warnings == [question]
    found = match(tree, tree, "optional: true\nNowhere: {x: y}")
    assert found.warnings == [
        f"{question} Do its names leave out a wrapper, such as the 0 of Module.0.decoder? ('wrappers: ignore' passes over them)"]


def test_rules_below_a_module_that_the_other_side_calls_otherwise_say_that_it_needs_a_rule() -> None:
    target, golden = model_tree([("dec", "D"), ("dec.x", "L")]), model_tree([("model", "M"), ("model.y", "L")])
    assert match(target, golden, "wrappers: ignore\nD: {x: y}").warnings == [
        "map.yaml: no rule hit anything: 'x' (line 2) is there, but below dec, and the golden side has nothing of that name: what encloses "
        "it needs a rule too, from the outermost module on (under 'TopLayer')"]
    assert match(target, golden, "TopLayer: {dec: model}\nD: {x: y}").warnings == []


def test_an_empty_mapping_pairs_equal_names() -> None:
    tree = model_tree([("a", "A"), ("a.x", "L")], {"a": ["Torch.mul"]})
    assert len(match_by_mapping(tree, tree, empty_mapping()).target) == tree.count - 1


def test_of_many_rules_that_hit_nothing_the_first_are_told_and_the_others_counted() -> None:
    tree = model_tree([("a", "A"), ("a.x", "L")])
    warnings = match(tree, tree, "A:\n  x: x\n" + "".join(f"  y{i}: z\n" for i in range(MOST_TOLD + 7))).warnings
    assert len(warnings) == MOST_TOLD + 1 and warnings[0].startswith("map.yaml, line 3: the rule hit nothing: no A of the target side")
    assert warnings[-1] == f"map.yaml: and 7 more rules hit nothing, the first in line {MOST_TOLD + 3}"


def test_of_many_unknown_classes_the_first_get_suggestions_and_all_are_known_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    search = difflib.get_close_matches
    monkeypatch.setattr(difflib, "get_close_matches", lambda word, *more: asked.append(word) or search(word, *more))
    tree = model_tree([("a", "Block")])
    unknown = match(tree, tree, "TopLayer: {a: a}\n" + "".join(f"Blok{i}: {{x: y}}\n" for i in range(MOST_TOLD + 7))).unknown
    assert len(unknown) == MOST_TOLD + 7 and len(asked) == MOST_TOLD
    assert unknown[0].message == "class 'Blok0' occurs on neither side: did you mean 'Block'?"
    assert unknown[-1].message == f"class 'Blok{MOST_TOLD + 6}' occurs on neither side"
    told = first_unknown(unknown)
    assert told[:-1] == unknown[:MOST_TOLD]
    assert (told[-1].line, told[-1].message) == (MOST_TOLD + 2, "and 7 more classes or paths that do not occur")
    assert first_unknown(unknown[:3]) == unknown[:3]
