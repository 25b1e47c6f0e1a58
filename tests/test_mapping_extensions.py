"""Mapping rules beyond the peer's: paths, groups, wildcards, numbers, alternatives, wrappers, inversion, parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trees import dump_of, matched, model_tree, module_entries, paths, tree_of

from converter.match.all_steps import match_graphs
from converter.match.mapping import MappingMatch, match_by_mapping
from converter.match.mapping_file import parse_mapping
from converter.match.pairing import Layout, Relation
from converter.tree.build import build_tree
from converter.tree.columns import Tree
from converter.tree.graph import graph_of


def match(target: Tree, golden: Tree, text: str, **options: object) -> MappingMatch:
    return match_by_mapping(target, golden, parse_mapping(text, "map.yaml"), **options)  # type: ignore[arg-type]


def match_paths(target: list[tuple[str, str]], golden: list[tuple[str, str]], text: str) -> dict[str, object]:
    """Forward module pairs of two models by path."""
    mine, other = model_tree(target), model_tree(golden)
    return paths(mine, other, match(mine, other, text).pairs())


def test_a_path_scope_overrides_the_class_in_one_tower() -> None:
    parts = [("", "T"), (".0", "Layer"), (".0.attention", "Attn")]
    target = [(f"{tower}{rest}", name) for tower in ("vision", "text") for rest, name in parts]
    golden = [("vision", "T"), ("vision.0", "V"), ("vision.0.attn", "Attn"), ("text", "T"), ("text.0", "D"), ("text.0.self_attn", "Attn")]
    text = "Layer: {attention: attn}\nscopes:\n- path: text.**\n  class: Layer\n  rules: {attention: self_attn}\n"
    found = match_paths(target, golden, text)
    assert found["vision.0.attention"] == "vision.0.attn" and found["text.0.attention"] == "text.0.self_attn"


def test_a_path_begins_anywhere_unless_it_says_toplayer() -> None:
    target = [("w.text", "A"), ("w.text.x", "L"), ("text", "A"), ("text.x", "L")]
    golden = [("w.text", "A"), ("w.text.y", "L"), ("text", "A"), ("text.y", "L")]
    anywhere = match_paths(target, golden, "scopes: [{path: text, rules: {x: y}}]")
    anchored = match_paths(target, golden, "scopes: [{path: TopLayer.text, rules: {x: y}}]")
    assert {"w.text.x", "text.x"} <= anywhere.keys() and "w.text.x" not in anchored and anchored["text.x"] == "text.y"


def test_one_to_many_makes_groups_in_every_direction() -> None:
    target = model_tree([("a", "Attn"), ("a.linear_qkv", "L")])
    golden = model_tree([("a", "A"), ("a.q", "L"), ("a.k", "L"), ("a.v", "L")])
    found = match(target, golden, "Attn: {linear_qkv: {to: [q, k, v], layout: per_group, heads: 4, kv_heads: 2}}")
    groups = matched(target, golden, found.groups)
    assert groups == {f"Module.a.linear_qkv.L.{rest}": tuple(f"Module.a.{part}.L.{rest}" for part in "qkv")
                      for rest in ("forward.0", "backward.0", "parameters_grad")}
    assert {pair.relation for pair in found.groups} == {Relation.CONCAT}
    assert set(found.layouts.values()) == {Layout("per_group", 4, 2)} and len(found.layouts) == 3


def test_many_to_one_makes_the_same_groups_from_the_other_side() -> None:
    target = model_tree([("a", "A"), ("a.q", "L"), ("a.k", "L"), ("a.v", "L")])
    golden = model_tree([("a", "Attn"), ("a.linear_qkv", "L")])
    groups = matched(target, golden, match(target, golden, "A: {[q, k, v]: linear_qkv}").groups)
    assert groups[tuple(f"Module.a.{part}.L.forward.0" for part in "qkv")] == "Module.a.linear_qkv.L.forward.0"  # type: ignore[index]


def test_a_group_is_made_only_when_all_parts_are_there() -> None:
    target, golden = model_tree([("a", "A"), ("a.qkv", "L")]), model_tree([("a", "A"), ("a.q", "L"), ("a.k", "L")])
    found = match(target, golden, "A: {qkv: [q, k, v]}")
    assert not found.groups
    assert found.warnings[0] == "map.yaml, line 1: target module a.qkv is not paired, because a.v is missing on the golden side"
    found = match(golden, target, "A: {[q, k, v]: qkv}")
    assert not found.groups
    assert found.warnings[0] == "map.yaml, line 1: golden module a.qkv is not paired, because v is missing on the target side"


def test_a_list_spreads_a_wildcard_over_all_that_exist_in_natural_order() -> None:
    target = model_tree([("m", "MoE"), ("m.experts", "Grouped")])
    golden = model_tree([("m", "MoE"), *[(f"m.experts.{i}", "L") for i in (0, 10, 2)]])
    found = match(target, golden, "MoE: {experts: {to: [experts.*], relation: stack}}")
    assert found.groups[0].relation == Relation.STACK
    assert matched(target, golden, found.groups)["Module.m.experts.Grouped.forward.0"] == tuple(
        f"Module.m.experts.{i}.L.forward.0" for i in (0, 2, 10))
    back = match(golden, target, "MoE: {[experts.*]: {to: experts, relation: stack}}")
    assert [(pair.golden, pair.target) for pair in back.groups] == sorted((pair.target, pair.golden) for pair in found.groups)


def test_wildcards_carry_over_what_they_held() -> None:
    target = [("b.0", "B"), ("b.0.attn_norm", "N"), ("b.0.mlp_norm", "N"), ("b.12", "B"), ("b.12.x.deep.leaf", "L")]
    golden = [("b.0", "B"), ("b.0.norm_attn", "N"), ("b.0.norm_mlp", "N"), ("c.12", "B"), ("c.12.y.deep.leaf", "L")]
    found = match_paths(target, golden, "B: {'*_norm': 'norm_*', x.**: y.**}\nTopLayer: {'b.1?': 'c.1?'}")
    assert found == {"b.0": "b.0", "b.0.attn_norm": "b.0.norm_attn", "b.0.mlp_norm": "b.0.norm_mlp", "b.12": "c.12",
                     "b.12.x.deep.leaf": "c.12.y.deep.leaf"}


def test_numbers_are_offset_and_never_negative() -> None:
    target = [(f"layers.{i}", "B") for i in (9, 10, 11)]
    golden = [(f"layers.{i}", "B") for i in (0, 1)]
    assert match_paths(target, golden, "TopLayer: {'layers.{i}': 'layers.{i-10}'}") == {"layers.10": "layers.0", "layers.11": "layers.1"}
    assert match_paths(golden, target, "layers: {'{i}': '{i+10}'}") == {"layers.0": "layers.10", "layers.1": "layers.11"}


def test_a_literal_key_comes_before_a_wildcard() -> None:
    target, golden = [("a", "A"), ("a.x1", "L"), ("a.x2", "L")], [("a", "A"), ("a.y1", "L"), ("a.special", "L")]
    for text in ("A: {x2: special, 'x?': 'y?'}", "A: {'x?': 'y?', x2: special}"):
        assert match_paths(target, golden, text) == {"a": "a", "a.x1": "a.y1", "a.x2": "a.special"}


def test_of_alternatives_the_first_that_exists_is_taken() -> None:
    target = [("t", "T"), ("t.x", "L")]
    old, new = [("model", "M"), ("model.x", "L")], [("model", "M"), ("model.language", "T"), ("model.language.x", "L")]
    text = "TopLayer: {t: model.language | model}"
    assert match_paths(target, old, text) == {"t": "model", "t.x": "model.x"}
    assert match_paths(target, new, text) == {"t": "model.language", "t.x": "model.language.x"}
    back = "TopLayer: {model.language | model: t}"
    assert match_paths(old, target, back) == {"model": "t", "model.x": "t.x"}
    assert match_paths(new, target, back) == {"model.language": "t", "model.language.x": "t.x"}


def test_a_level_can_be_taken_out() -> None:
    target, golden = [("a", "A"), ("a.wrap", "W"), ("a.wrap.x", "L")], [("a", "A"), ("a.x", "L")]
    assert match_paths(target, golden, "A: {wrap: ''}") == {"a": "a", "a.wrap.x": "a.x"}


def test_an_empty_list_keeps_a_module_and_what_is_below_it_apart() -> None:
    modules = [("a", "A"), ("a.x", "X"), ("a.x.y", "L")]
    tree = model_tree(modules)
    found = match(tree, tree, "A: {x: []}")
    assert paths(tree, tree, found.pairs()) == {"a": "a"}
    assert {tree.names[node] for node in found.without_counterpart} == {
        f"Module.a.{module}.{rest}" for module in ("x.X", "x.y.L") for rest in ("forward.0", "backward.0", "parameters_grad")}
    assert not found.warnings


@pytest.mark.parametrize("invert", [False, True])
def test_no_later_step_pairs_what_has_no_counterpart(invert: bool) -> None:
    dump = dump_of(*module_entries([("a", "A"), ("a.x", "X"), ("a.y", "Y")]))
    graph = graph_of(dump, build_tree(dump))
    mapping = replace(parse_mapping("A: {x: []}", "m"), invert=invert)
    pairing, _ = match_graphs(graph, graph, "auto", mapping, None, (dump, dump))
    left = {graph.tree.names[node] for node in range(1, graph.tree.count) if pairing.pair_of_target[node] < 0}
    assert left == {f"Module.a.x.X.{rest}" for rest in ("forward.0", "backward.0", "parameters_grad")}


def test_wrappers_can_be_ignored_on_both_sides() -> None:
    target = [("0.module", "Float16Module"), ("0.module.module", "GPT"), ("0.module.module.decoder", "D"),
              ("0.module.module.decoder._checkpoint_wrapped_module.x", "L")]
    golden = [("module", "DDP"), ("module._orig_mod.net", "D"), ("module._orig_mod.net.x", "L")]
    assert match_paths(target, golden, "wrappers: ignore\nTopLayer: {decoder: net}") == {
        "0.module.module.decoder": "module._orig_mod.net", "0.module.module.decoder._checkpoint_wrapped_module.x": "module._orig_mod.net.x"}


def test_chunks_of_a_virtual_pipeline_are_not_mixed_up_without_their_wrappers() -> None:
    target = [("0.module.layers.0", "B"), ("0.module.layers.1", "B"), ("1.module.layers.0", "B")]
    tree = model_tree(target)
    found = match(tree, tree, "wrappers: ignore\nTopLayer: {}")
    assert paths(tree, tree, found.pairs()) == {path: path for path, _ in target}
    assert not match(tree, model_tree([("layers.1", "B")]), "wrappers: ignore\nTopLayer: {}").pairs()


def test_a_module_that_does_nothing_pairs_with_its_like_only() -> None:
    target, golden = [("n", "IdentityOp"), ("m", "IdentityOp")], [("n", "RMSNorm"), ("m", "Identity")]
    assert match_paths(target, golden, "TopLayer: {}") == {"m": "m"}


def test_an_inverted_file_gives_the_same_pairs_from_the_other_side() -> None:
    target = model_tree([("a", "A"), ("a.qkv", "L"), ("a.o", "L")], {"a": ["Torch.add"]})
    golden = model_tree([("b", "B"), ("b.q", "L"), ("b.k", "L"), ("b.out", "L")], {"b": ["Torch.sum"]})
    mapping = parse_mapping("TopLayer: {a: b}\nA: {qkv: [q, k], o: out, add: sum}\nparameters: {A: {w: weight}}", "m")
    straight = match_by_mapping(target, golden, mapping)
    turned = match_by_mapping(golden, target, replace(mapping, invert=True))
    assert {(pair.golden, pair.target) for pair in turned.pairs()} == {(pair.target, pair.golden) for pair in straight.pairs()}
    assert [hit.hits for hit in turned.rules] == [hit.hits for hit in straight.rules]
    assert straight.aliases == {("B", "w"): "weight"} and turned.aliases == {("A", "weight"): "w"}


def test_parameter_aliases_are_keyed_by_the_golden_class_that_the_modules_pair_with() -> None:
    target, golden = model_tree([("n", "RmsNorm"), ("m", "Dense")]), model_tree([("n", "RMSNorm"), ("m", "Linear")])
    found = match(target, golden, "TopLayer: {}\nparameters: {'*': {gamma: weight}, RmsNorm: {scale: weight}, Conv: {k: w}}")
    assert found.aliases == {("", "gamma"): "weight", ("RMSNorm", "scale"): "weight"}
    assert found.warnings == ["map.yaml, line 2: no module of class 'Conv' is paired, so this parameter alias is of no use"]


def test_micro_steps_and_taken_nodes_are_respected() -> None:
    entries = [(f"Module.a.L.{direction}.{step}", None) for step in range(2) for direction in ("forward", "backward")]
    target, golden = tree_of(entries), tree_of(entries)
    assert target.micro_steps == 2
    taken = np.zeros(target.count, np.bool_)
    taken[target.names.index("Module.a.L.forward.0")] = True
    pairs = matched(target, golden, match(target, golden, "TopLayer: {}", taken_target=taken).pairs())
    assert "Module.a.L.forward.0" not in pairs and pairs["Module.a.L.forward.1"] == "Module.a.L.forward.1"


