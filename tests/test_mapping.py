"""Pairs by a mapping file: the peer's rules on trees, against a plain walk, on real dumps, in linear time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import dump_of, matched, model_tree, module_entries, paths, tree_of

from converter.dumps.reader import read_dump
from converter.match.frame_scope import frame_scope
from converter.match.mapping import MappingMatch, match_by_mapping
from converter.match.mapping_file import parse_mapping
from converter.match.mapping_invert import classes_from_trees, invert_mapping
from converter.match.pairing import How
from converter.tree.build import build_tree
from converter.tree.columns import Tree


def match(target: Tree, golden: Tree, text: str, **options: object) -> MappingMatch:
    return match_by_mapping(target, golden, parse_mapping(text, "map.yaml"), **options)  # type: ignore[arg-type]


def match_paths(target: list[tuple[str, str]], golden: list[tuple[str, str]], text: str) -> dict[str, object]:
    """Forward module pairs of two models by path."""
    mine, other = model_tree(target), model_tree(golden)
    return paths(mine, other, match(mine, other, text).pairs())


def real(side: str) -> Tree:
    return build_tree(read_dump(str(Path(__file__).parent / "data" / side / "step0" / "rank0")))


# ------------------------------------------------------------------------------------------------ the peer's rules

def test_rules_are_scoped_by_the_class_that_holds_the_name() -> None:
    target = [("m", "Net"), ("m.a", "Block"), ("m.a.x", "Linear"), ("m.b", "Other"), ("m.b.x", "Linear")]
    golden = [("m", "Net"), ("m.a", "Block"), ("m.a.y", "Linear"), ("m.b", "Other"), ("m.b.y", "Linear"), ("m.b.x", "Linear")]
    assert match_paths(target, golden, "Block: {x: y}") == {"m": "m", "m.a": "m.a", "m.a.x": "m.a.y", "m.b": "m.b", "m.b.x": "m.b.x"}


def test_keys_and_values_cross_levels() -> None:
    target = [("0.module", "Float16Module"), ("0.module.module.decoder", "T"), ("0.module.module.head", "L")]
    golden = [("module", "HF"), ("module.model.net", "T"), ("module.head", "L")]
    text = "TopLayer: {0.module: module}\nFloat16Module: {module: model, module.decoder: model.net, module.head: head}"
    assert match_paths(target, golden, text) == {
        "0.module": "module", "0.module.module.decoder": "module.model.net", "0.module.module.head": "module.head"}


def test_the_longest_key_wins_wherever_it_stands() -> None:
    target = [("a", "A"), ("a.b", "B"), ("a.b.c", "C")]
    golden = [("a", "A"), ("a.x", "B"), ("a.x.c", "C"), ("a.y", "C")]
    for text in ("A: {b: x, b.c: y}", "A: {b.c: y, b: x}"):
        assert match_paths(target, golden, text) == {"a": "a", "a.b": "a.x", "a.b.c": "a.y"}


def test_a_long_key_of_an_outer_class_takes_over_from_an_inner_class() -> None:
    target = [("p", "Projector"), ("p.e", "MLP"), ("p.e.fc1", "L")]
    golden = [("p", "P"), ("p.mlp", "S"), ("p.mlp.0", "L"), ("p.mlp.up", "L")]
    text = "Projector: {e: mlp, e.fc1: mlp.0}\nMLP: {fc1: up}"
    assert match_paths(target, golden, text) == {"p": "p", "p.e": "p.mlp", "p.e.fc1": "p.mlp.0"}


def test_a_level_that_is_never_called_scopes_rules_by_its_name() -> None:
    target = [("m", "Net"), ("m.layers.0", "B"), ("m.layers.0.f", "F")]
    golden = [("m", "Net"), ("m.layers.3", "B"), ("m.layers.3.f", "F")]
    assert match_paths(target, golden, 'layers: {"0": "3"}') == {"m": "m", "m.layers.0": "m.layers.3", "m.layers.0.f": "m.layers.3.f"}


def test_names_equal_on_both_sides_need_no_rule_and_classes_need_not_agree() -> None:
    target, golden = model_tree([("m", "A"), ("m.x", "B")]), model_tree([("m", "C"), ("m.x", "B")])
    found = match(target, golden, "TopLayer: {}")
    assert paths(target, golden, found.pairs()) == {"m": "m", "m.x": "m.x"}
    by_name = {target.names[pair.target[0]]: (pair.how, pair.evidence) for pair in found.pairs()}
    assert by_name["Module.m.A.forward.0"] == (How.MAPPING, "same path")
    assert by_name["Module.m.x.B.forward.0"] == (How.EXACT, "same name")


def test_forward_backward_and_gradients_follow_the_same_rule() -> None:
    target, golden = model_tree([("m", "A"), ("m.x", "B")]), model_tree([("m", "A"), ("m.y", "B")])
    assert matched(target, golden, match(target, golden, "A: {x: y}").pairs()) == {
        f"Module.m.{a}.{rest}": f"Module.m.{b}.{rest}" for a, b, rest in [
            ("x.B", "y.B", "forward.0"), ("x.B", "y.B", "backward.0"), ("x.B", "y.B", "parameters_grad"),
            ("A", "A", "forward.0"), ("A", "A", "backward.0"), ("A", "A", "parameters_grad")]}


def test_both_forms_of_parameter_gradients_pair_with_each_other() -> None:
    entries = [("Module.x.B.forward.0", None), ("Module.x.B.backward.0", None)]
    old, new = tree_of(entries, ["Module.x.B.parameters_grad"]), tree_of(entries, ["Module.x.B.parameters_grad.0"])
    assert matched(old, new, match(old, new, "TopLayer: {}").pairs())["Module.x.B.parameters_grad"] == "Module.x.B.parameters_grad.0"


def test_cells_pair_with_modules() -> None:
    target, golden = tree_of([("Cell.net.a.Dense.forward.0", None)]), tree_of([("Module.net.b.Linear.forward.0", None)])
    assert matched(target, golden, match(target, golden, "net: {a: b}").pairs()) == {
        "Cell.net.a.Dense.forward.0": "Module.net.b.Linear.forward.0"}


def test_calls_pair_by_order_not_by_number() -> None:
    target = tree_of([("Module.a.L.forward.4", None), ("Module.a.L.forward.7", None)])
    golden = tree_of([("Module.a.L.forward.0", None), ("Module.a.L.forward.1", None), ("Module.a.L.forward.2", None)])
    assert matched(target, golden, match(target, golden, "TopLayer: {}").pairs()) == {
        "Module.a.L.forward.4": "Module.a.L.forward.0", "Module.a.L.forward.7": "Module.a.L.forward.1"}


def test_api_prefixes_do_not_matter() -> None:
    target = tree_of([("Cell.m.A.forward.0", None), ("Mint.cos.0.forward", "Cell.m.A.forward.0")])
    golden = tree_of([("Module.m.A.forward.0", None), ("Torch.cos.5.forward", "Module.m.A.forward.0")])
    assert matched(target, golden, match(target, golden, "TopLayer: {}").pairs())["Mint.cos.0.forward"] == "Torch.cos.5.forward"


def test_a_primitive_is_known_by_its_type() -> None:
    target = tree_of([("Cell.m.A.forward.0", None), ("Primitive.norm.RmsNorm.0.forward", "Cell.m.A.forward.0")])
    golden = tree_of([("Module.m.A.forward.0", None), ("NPU.npu_rms_norm.0.forward", "Module.m.A.forward.0")])
    pairs = matched(target, golden, match(target, golden, "A: {RmsNorm: npu_rms_norm}").pairs())
    assert pairs["Primitive.norm.RmsNorm.0.forward"] == "NPU.npu_rms_norm.0.forward"


def test_apis_are_renamed_below_the_class_that_calls_them() -> None:
    target = model_tree([("e", "VocabParallelEmbedding")], {"e": ["Torch.logical_or", "Torch.mul"]})
    golden = model_tree([("e", "Embedding")], {"e": ["Tensor.__or__", "Tensor.mul"]})
    pairs = matched(target, golden, match(target, golden, "VocabParallelEmbedding: {logical_or: __or__}").pairs())
    assert pairs["Torch.logical_or.0.forward"] == "Tensor.__or__.0.forward"
    assert pairs["Torch.logical_or.0.backward"] == "Tensor.__or__.0.backward"
    assert pairs["Torch.mul.0.forward"] == "Tensor.mul.0.forward"


def test_an_api_moves_to_another_level() -> None:
    target = model_tree([("a", "ParallelAttention")], {"a": ["Functional.flash_attention_score"]})
    golden = model_tree([("a", "Attention"), ("a.core_attention_flash", "Core")], {"a.core_attention_flash": ["NPU.npu_fusion_attention"]})
    text = "ParallelAttention: {flash_attention_score: core_attention_flash.npu_fusion_attention}"
    assert matched(target, golden, match(target, golden, text).pairs())["Functional.flash_attention_score.0.forward"] \
        == "NPU.npu_fusion_attention.0.forward"


def test_apis_pair_within_the_same_call_of_their_caller() -> None:
    def shared(first: int, second: int) -> Tree:
        entries: list = []
        number = 0
        for call, count in enumerate((first, second)):
            entries.append((f"Module.n.Norm.forward.{call}", None))
            for _ in range(count):
                entries.append((f"Torch.mul.{number}.forward", f"Module.n.Norm.forward.{call}"))
                number += 1
        return tree_of(entries)

    target, golden = shared(2, 1), shared(1, 1)
    pairs = matched(target, golden, match(target, golden, "TopLayer: {}").pairs())
    assert {name: other for name, other in pairs.items() if "mul" in name} == {
        "Torch.mul.0.forward": "Torch.mul.0.forward", "Torch.mul.2.forward": "Torch.mul.1.forward"}


def test_several_api_names_may_stand_for_one_in_call_order() -> None:
    target = model_tree([("a", "A")], {"a": ["Tensor.add", "Tensor.__add__", "Tensor.add"]})
    golden = model_tree([("a", "A")], {"a": ["Tensor.__add__", "Tensor.__add__", "Tensor.__add__"]})
    pairs = matched(target, golden, match(target, golden, "A: {add: __add__}").pairs())
    for number, name in enumerate(("add.0", "__add__.0", "add.1")):
        assert pairs[f"Tensor.{name}.forward"] == f"Tensor.__add__.{number}.forward"


def test_a_rule_for_a_module_leaves_the_api_of_the_same_name_alone() -> None:
    target = model_tree([("a", "A"), ("a.linear", "L")], {"a": ["Functional.linear"]})
    golden = model_tree([("a", "A"), ("a.fc", "L")], {"a": ["Functional.linear"]})
    pairs = matched(target, golden, match(target, golden, "A: {linear: fc}").pairs())
    assert pairs["Functional.linear.0.forward"] == "Functional.linear.0.forward"
    assert pairs["Module.a.linear.L.forward.0"] == "Module.a.fc.L.forward.0"


def test_apis_without_a_rule_can_be_left_to_a_later_step() -> None:
    target = model_tree([("a", "A")], {"a": ["Torch.add", "Torch.mul"]})
    golden = model_tree([("a", "A")], {"a": ["Torch.sum", "Torch.mul"]})
    names = matched(target, golden, match(target, golden, "A: {add: sum}", unruled_apis=False).pairs())
    assert "Torch.add.0.forward" in names and "Torch.mul.0.forward" not in names


def test_apis_at_the_root_belong_to_toplayer_whether_collected_or_not() -> None:
    target = model_tree([("a", "A")], {"": ["Torch.ones", "Torch.add"]})
    golden = tree_of([("Torch.zeros.0.forward", None), ("Module.a.A.forward.0", None), ("Torch.add.0.forward", None)])
    pairs = matched(target, golden, match(target, golden, "TopLayer: {ones: zeros}").pairs())
    assert pairs["Torch.ones.0.forward"] == "Torch.zeros.0.forward" and pairs["Torch.add.0.forward"] == "Torch.add.0.forward"


def test_layers_of_a_legacy_pipeline_stage_count_from_zero_on_both_sides() -> None:
    target = [("e", "ParallelTransformer"), ("e.layers.10", "Layer"), ("e.layers.12", "Layer")]
    golden = [("e", "ParallelTransformer"), ("e.layers.0", "Layer"), ("e.layers.2", "Layer")]
    assert match_paths(target, golden, "TopLayer: {}") == {"e": "e", "e.layers.10": "e.layers.0", "e.layers.12": "e.layers.2"}


# ------------------------------------------------------------------------------------------------ frames

TORCH = "/usr/lib/python3/site-packages/torch"


@pytest.mark.parametrize(("lines", "scope"), [
    ((f"File {TORCH}/_tensor.py, line 1, in __getitem__, \n x", "File /home/u/model.py, line 2, in forward, \n y"), "__getitem__"),
    (("File /home/u/model.py, line 2, in forward, \n y", f"File {TORCH}/_tensor.py, line 1, in __getitem__, \n x"), ""),
    ((f"File {TORCH}/nn/modules/linear.py, line 9, in forward, \n x", f"File {TORCH}/nn/modules/module.py, line 3, in _call_impl, \n"), ""),
    (("File /x/msprobe/hook.py, line 5, in Template, \n", f"File {TORCH}/a.py, line 1, in pad, \n", "File /u.py, line 1, in f, \n"), "pad"),
    ((f"File {TORCH}/a.py, line 1, in __call__, \n", "File /u.py, line 1, in f, \n"), ""),
    ((), ""),
])
def test_the_frame_scope_is_the_framework_function_between_call_and_user_code(lines: tuple[str, ...], scope: str) -> None:
    assert frame_scope(lines, mindspore=False) == scope


def test_with_stacks_an_api_that_the_framework_issues_is_not_taken_for_the_users() -> None:
    user = ("File /u/model.py, line 2, in forward, \n",)
    inside = (f"File {TORCH}/_tensor.py, line 1, in __getitem__, \n", *user)
    entries = [("Module.a.A.forward.0", None), ("Tensor.__add__.0.forward", "Module.a.A.forward.0"),
               ("Tensor.__add__.1.forward", "Module.a.A.forward.0")]
    first = dump_of(entries, stacks={"Tensor.__add__.0.forward": inside, "Tensor.__add__.1.forward": user})
    second = dump_of(entries[:2], stacks={"Tensor.__add__.0.forward": user})
    target, golden = build_tree(first), build_tree(second)
    with_stacks = matched(target, golden, match(target, golden, "TopLayer: {}", dumps=(first, second)).pairs())
    without = matched(target, golden, match(target, golden, "TopLayer: {}").pairs())
    assert with_stacks["Tensor.__add__.1.forward"] == "Tensor.__add__.0.forward" and "Tensor.__add__.0.forward" not in with_stacks
    assert without["Tensor.__add__.0.forward"] == "Tensor.__add__.0.forward"


def test_a_rule_that_names_an_api_does_not_ask_from_where_it_was_called() -> None:
    inside = (f"File {TORCH}/_tensor.py, line 1, in __getitem__, \n", "File /u/model.py, line 2, in forward, \n")
    caller = "Module.a.A.forward.0"
    first = dump_of([(caller, None), ("Tensor.add.0.forward", caller)], stacks={"Tensor.add.0.forward": inside})
    second = dump_of([(caller, None), ("Tensor.sum.0.forward", caller)], stacks={"Tensor.sum.0.forward": inside[1:]})
    target, golden = build_tree(first), build_tree(second)
    pairs = matched(target, golden, match(target, golden, "A: {add: sum}", dumps=(first, second)).pairs())
    assert pairs["Tensor.add.0.forward"] == "Tensor.sum.0.forward"


# ------------------------------------------------------------------------------------------------ against a plain walk

parts = st.sampled_from(["a", "b", "c"])
model_paths = st.lists(st.lists(parts, min_size=1, max_size=4).map(".".join), min_size=1, max_size=8, unique=True)
keys = st.lists(parts, min_size=1, max_size=3).map(".".join)


def walk(path: list[str], class_of: dict[str, str], rules: dict[str, dict[str, str]]) -> list[str]:
    """The conversion as its definition says it: from the root, the longest key that is what follows."""
    done: list[str] = []
    at = 0
    while at < len(path):
        scope = class_of.get(".".join(path[:at]), path[at - 1]) if at else "TopLayer"
        fitting = [key for key in rules.get(scope, {}) if path[at:at + len(key.split("."))] == key.split(".")]
        if fitting:
            key = max(fitting, key=lambda text: text.count("."))
            done += rules[scope][key].split(".")
            at += len(key.split("."))
        else:
            done.append(path[at])
            at += 1
    return done


@settings(max_examples=100, deadline=None)
@given(model_paths, st.dictionaries(st.sampled_from(["TopLayer", "P", "Q", "a", "b"]), st.dictionaries(keys, keys, max_size=4), max_size=4),
       st.randoms(use_true_random=False))
def test_conversion_equals_the_plain_walk_of_every_path(found: list[str], rules: dict[str, dict[str, str]], random) -> None:
    class_of = {path: random.choice("PQ") for path in found}
    target = model_tree([(path, class_of[path]) for path in sorted(found)])
    blocks = [f"{scope}: {{{', '.join(f'{key}: {value}' for key, value in block.items())}}}" for scope, block in rules.items()]
    text = "\n".join(blocks) or "{}"
    for path in found:
        expected = ".".join(walk(path.split("."), class_of, rules))
        golden = model_tree([(expected, "Any")])
        others = [other for other in found if ".".join(walk(other.split("."), class_of, rules)) == expected]
        if len(others) == 1:
            assert paths(target, golden, match(target, golden, text).pairs()).get(path) == expected


# ------------------------------------------------------------------------------------------------ real dumps and size

def test_stacks_and_data_are_not_needed() -> None:
    tree = real("qwen2_24l_mix_struct/golden")
    found = match(tree, tree, "Qwen2DecoderLayer: {self_attn: self_attn}")
    assert found.rules[0].hits > 24 and len(found.target) > 0.99 * (tree.count - 1)


def test_the_inverse_file_gives_the_same_pairs_on_a_real_pair() -> None:
    target, golden = real("megatron_vs_hf/megatron"), real("megatron_vs_hf/hf")
    mapping = parse_mapping("TopLayer: {0.decoder.layers: model.layers}\nTransformerLayer: {self_attention: self_attn}\n"
                            "SelfAttention: {linear_qkv: [q_proj, k_proj, v_proj], linear_proj: o_proj}\n", "m")
    inverse = invert_mapping(classes_from_trees(mapping, target, golden))
    assert inverse.exact
    straight = {(pair.target, pair.golden) for pair in match_by_mapping(target, golden, mapping).pairs()}
    turned = {(pair.golden, pair.target) for pair in match_by_mapping(golden, target, inverse.mapping).pairs()}
    assert straight == turned and len(straight) > 100


def test_time_is_linear_in_the_nodes() -> None:
    def model(layers: int) -> Tree:
        layer = [("", "Layer"), (".attn", "Attn"), (".attn.qkv", "L"), (".mlp", "M"), (".mlp.fc", "L")]
        modules = [("m", "Net")] + [(f"m.layers.{i}{rest}", name) for i in range(layers) for rest, name in layer]
        apis = {path: ["Torch.mul", "Torch.add", "Functional.linear"] for path, _ in modules}
        return model_tree(modules, apis)

    text = "Layer: {attn: attn, mlp: mlp}\nAttn: {'q*': 'q*'}\nM: {fc: fc, linear: linear}"
    seconds = []
    for layers in (50, 400):
        tree = model(layers)
        best = min(_seconds(tree, text) for _ in range(3))
        seconds.append(best / tree.count)
    assert seconds[1] < 4 * seconds[0]


def _seconds(tree: Tree, text: str) -> float:
    start = time.perf_counter()
    match(tree, tree, text)
    return time.perf_counter() - start


def test_a_model_two_thousand_levels_deep_is_converted() -> None:
    entries, _ = module_entries([(".".join(["a"] * 2000), "A")], backward=False)
    tree = tree_of(entries)
    assert match(tree, tree, "TopLayer: {b: c}").target.tolist() == [1]
