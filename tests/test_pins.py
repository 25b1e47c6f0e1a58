"""Manual matches: the file beside a graph, and what its entries mean for two trees."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_dumps import LINEAR, NET, entry, write_dump

from converter.errors import UserError
from converter.match.pairing import How, Relation
from converter.match.pins import Pins, pinned_pairs, pins_of, read_pins
from converter.rank_task import read_tree
from converter.tree.columns import Tree

Q, K, V = (f"Module.net.{part}.Linear.forward.0" for part in "qkv")


def read(tmp_path: Path, text: str) -> Pins:
    path = tmp_path / "rank0.matches.yaml"
    path.write_text(text, encoding="utf-8")
    return read_pins(str(path))


def problem(tmp_path: Path, text: str) -> str:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text)
    return str(caught.value).replace(str(tmp_path), "…")


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tree, Tree]:
    folder = tmp_path_factory.mktemp("dumps")
    return tuple(read_tree(write_dump(str(folder / name), {node: entry() for node in nodes}))[1]  # type: ignore[return-value]
                 for name, nodes in (("target", [LINEAR]), ("golden", [Q, K, V])))


def pairs_by_name(pins: Pins, trees: tuple[Tree, Tree]) -> list[tuple[list[str], list[str], Relation]]:
    target, golden = trees
    return [([target.names[node] for node in pair.target], [golden.names[node] for node in pair.golden], pair.relation)
            for pair in pinned_pairs(pins, target, golden)[0]]


# ---- the file ----


def test_a_file_of_matches(tmp_path: Path) -> None:
    pins = read(tmp_path, f"matches:\n- {{action: match, target: [{LINEAR}], golden: [{Q}, {K}], relation: concat, author: a, "
                          f"time: 2026-01-01T00:00:00Z}}\n- {{action: unmatch, target: {LINEAR}, golden: {V}}}\n")
    assert [(pin.action, pin.target, pin.golden, pin.relation) for pin in pins.pins] == [
        ("match", (LINEAR,), (Q, K), Relation.CONCAT), ("unmatch", (LINEAR,), (V,), Relation.SAME)]


@pytest.mark.parametrize("text", ["", "# nothing\n", "matches:\n", "matches: []\n", "triage:\n- {nodes: x}\n"])
def test_a_file_without_matches(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).pins == ()


def test_action_and_relation_have_defaults(tmp_path: Path) -> None:
    pin = read(tmp_path, f"matches:\n- {{target: {LINEAR}, golden: {Q}}}\n").pins[0]
    assert (pin.action, pin.relation) == ("match", Relation.SAME)


def test_names_are_texts_whatever_they_look_like(tmp_path: Path) -> None:
    pin = read(tmp_path, "matches:\n- {target: 1, golden: [null, 2026-99-99, on]}\n").pins[0]
    assert (pin.target, pin.golden) == (("1",), ("null", "2026-99-99", "on"))


def test_a_time_that_is_none_does_not_matter(tmp_path: Path) -> None:
    assert len(read(tmp_path, "matches:\n- {target: a, golden: b, time: 2026-13-45}\n").pins) == 1


@pytest.mark.parametrize(("text", "message"), [
    ("- a\n", "…/rank0.matches.yaml: expected a mapping with the key `matches`, found a list"),
    ("text\n", "…/rank0.matches.yaml: expected a mapping with the key `matches`, found 'text'"),
    ("matches: {a: b}\n", "…/rank0.matches.yaml: `matches` must be a list, found a mapping"),
    ("matches:\n- a\n", "…/rank0.matches.yaml: entry 1 of `matches` must be a mapping with action, target and golden, found 'a'"),
    ("matches:\n- {target: a, golden: b}\n- {action: delete, target: a, golden: b}\n",
     "…/rank0.matches.yaml: entry 2 of `matches`: action must be match or unmatch, found 'delete'"),
    ("matches:\n- {action: [match], target: a, golden: b}\n",
     "…/rank0.matches.yaml: entry 1 of `matches`: action must be match or unmatch, found a list"),
    ("matches:\n- {relation: glue, target: a, golden: b}\n",
     "…/rank0.matches.yaml: entry 1 of `matches`: relation must be one of same, concat, sum, stack, found 'glue'"),
    ("matches:\n- {relation: {a: b}, target: a, golden: b}\n",
     "…/rank0.matches.yaml: entry 1 of `matches`: relation must be one of same, concat, sum, stack, found a mapping"),
    ("matches:\n- {golden: b}\n", "…/rank0.matches.yaml: entry 1 of `matches`: target must be a node name or a list of node names"),
    ("matches:\n- {target: a, golden: []}\n",
     "…/rank0.matches.yaml: entry 1 of `matches`: golden must be a node name or a list of node names"),
    ("matches:\n- {target: a, golden: [[b]]}\n",
     "…/rank0.matches.yaml: entry 1 of `matches`: golden must be a node name or a list of node names"),
    ("matches: [\n", "…/rank0.matches.yaml, line 2, column 1: "),
    ("a: \x01\n", "…/rank0.matches.yaml, line 1, column 4: character U+0001 is not allowed in YAML"),
    ("? [a]\n: b\n", "…/rank0.matches.yaml, line 1, column 3: not valid here: found unhashable key"),
    ("[" * 5000, "…/rank0.matches.yaml: the file is nested too deeply"),
])
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert problem(tmp_path, text).startswith(message)


def test_a_file_of_references_to_references_is_told_in_a_short_sentence(tmp_path: Path) -> None:
    text = "a: &a [x, x]\n" + "".join(f"{name}: &{name} [*{before}, *{before}]\n" for before, name in zip("abcdefghijklmnopqrstu",
                                                                                                     "bcdefghijklmnopqrstuv"))
    assert len(problem(tmp_path, text + "matches:\n- {target: a, golden: b, relation: *v}\n")) < 200


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.yaml does not exist"):
        read_pins(str(tmp_path / "none.yaml"))


# ---- what it means ----


def test_a_match_is_a_pair_by_hand(trees: tuple[Tree, Tree]) -> None:
    pairs, refused, warnings = pinned_pairs(pins_of([{"target": LINEAR, "golden": Q}], "m"), *trees)
    assert [(pair.how, pair.confidence, pair.relation) for pair in pairs] == [(How.MANUAL, 1.0, Relation.SAME)]
    assert (refused, warnings) == ([], [])


def test_one_against_several_is_a_concatenation_unless_it_says_otherwise(trees: tuple[Tree, Tree]) -> None:
    assert pairs_by_name(pins_of([{"target": LINEAR, "golden": [Q, K]}], "m"), trees) == [([LINEAR], [Q, K], Relation.CONCAT)]
    assert pairs_by_name(pins_of([{"target": LINEAR, "golden": [Q, K], "relation": "sum"}], "m"), trees)[0][2] == Relation.SUM


def test_a_name_twice_is_one_node(trees: tuple[Tree, Tree]) -> None:
    assert pairs_by_name(pins_of([{"target": [LINEAR, LINEAR], "golden": Q}], "m"), trees) == [([LINEAR], [Q], Relation.SAME)]


def test_the_later_entry_about_a_node_wins(trees: tuple[Tree, Tree]) -> None:
    entries = [{"target": LINEAR, "golden": Q}, {"target": NET, "golden": NET}, {"target": LINEAR, "golden": K}]
    assert pairs_by_name(pins_of(entries, "m"), trees) == [([NET], [NET], Relation.SAME), ([LINEAR], [K], Relation.SAME)]
    entries.append({"target": NET, "golden": K})
    assert pairs_by_name(pins_of(entries, "m"), trees) == [([NET], [K], Relation.SAME)]


def test_unmatching_undoes_a_match_and_forbids_it(trees: tuple[Tree, Tree]) -> None:
    target, golden = trees
    entries = [{"target": LINEAR, "golden": Q}, {"action": "unmatch", "target": LINEAR, "golden": Q}]
    forbidden = (target.names.index(LINEAR), golden.names.index(Q))
    assert pinned_pairs(pins_of(entries, "m"), *trees)[:2] == ([], [forbidden])


def test_matching_again_permits_it(trees: tuple[Tree, Tree]) -> None:
    entries = [{"action": "unmatch", "target": LINEAR, "golden": Q}, {"target": LINEAR, "golden": Q}]
    pairs, refused, _ = pinned_pairs(pins_of(entries, "m"), *trees)
    assert (len(pairs), refused) == (1, [])


def test_names_of_another_graph_are_passed_over_and_counted(trees: tuple[Tree, Tree]) -> None:
    entries = [{"target": "x", "golden": Q}, {"target": LINEAR, "golden": ["y", Q]}]
    pairs, _, warnings = pinned_pairs(pins_of(entries, "m.yaml"), *trees)
    assert pairs == []
    assert warnings == ["m.yaml: 2 node names are not in these graphs and are passed over: x"]


def test_a_list_of_everything_inside_of_a_large_node_takes_no_longer_than_its_length() -> None:
    names = [f"Module.net.{number}.Linear.forward.0" for number in range(20_000)]
    tree = SimpleNamespace(names=names)
    pins = pins_of([{"target": name, "golden": name} for name in names], "m")
    began = time.process_time()
    pairs, refused, warnings = pinned_pairs(pins, tree, tree)  # type: ignore[arg-type]
    assert (len(pairs), refused, warnings) == (20_000, [], [])
    assert time.process_time() - began < 5  # looking through all earlier pairs for every entry took minutes


def test_an_entry_dissolves_every_pair_that_one_of_its_nodes_was_in(trees: tuple[Tree, Tree]) -> None:
    entries = [{"target": LINEAR, "golden": [Q, K]}, {"target": NET, "golden": V}, {"target": LINEAR, "golden": V},
               {"target": NET, "golden": [Q, K]}]
    assert pairs_by_name(pins_of(entries, "m"), trees) == [([LINEAR], [V], Relation.SAME), ([NET], [Q, K], Relation.CONCAT)]
