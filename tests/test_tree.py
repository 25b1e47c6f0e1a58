"""The tree of a dump: names, places, order, gradients; nothing is ever lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from converter.dumps.reader import read_dump
from converter.tree.build import build_tree, is_in_place
from converter.tree.columns import FLAG_HAS_DATA, FLAG_INPLACE, Direction, NodeKind
from converter.tree.names import parse_names
from tests.dump_files import DATA, RANK_DIRECTORIES, tensor, write_dump
from tests.tree_outline import CHECKPOINT, TRAINING, build_from, check_columns, flagged, outline, parent_of, steps


@pytest.fixture
def build(tmp_path: Path) -> Any:
    """Builds the tree of a dump given by its files."""
    return partial(build_from, tmp_path)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(("name", "prefix", "path", "label", "direction", "call", "kind"), [
    ("Module.module.decoder.layers.0.TransformerLayer.forward.12", "Module", ("module", "decoder", "layers", "0"), "TransformerLayer",
     Direction.FORWARD, 12, NodeKind.MODULE),
    ("Module.0.module.Float16Module.backward.0", "Module", ("0", "module"), "Float16Module", Direction.BACKWARD, 0, NodeKind.MODULE),
    ("Cell.network.NetA.forward.0", "Cell", ("network",), "NetA", Direction.FORWARD, 0, NodeKind.MODULE),
    ("Module.a.Linear.parameters_grad", "Module", ("a",), "Linear", Direction.BACKWARD, -1, NodeKind.PARAMETERS_GRAD),
    ("Module.a.Linear.parameters_grad.3", "Module", ("a",), "Linear", Direction.BACKWARD, 3, NodeKind.PARAMETERS_GRAD),
    ("Torch.matmul.2.forward", "Torch", (), "matmul", Direction.FORWARD, 2, NodeKind.API),
    ("MintFunctional.linear.2.backward", "MintFunctional", (), "linear", Direction.BACKWARD, 2, NodeKind.API),
    ("Primitive.norm.RmsNorm.0.forward", "Primitive", (), "norm.RmsNorm", Direction.FORWARD, 0, NodeKind.API),
    ("Jit.step.0.forward", "Jit", (), "step", Direction.FORWARD, 0, NodeKind.API),
    ("optimizer", "", (), "optimizer", Direction.NONE, -1, NodeKind.MODULE),
    ("ModuleTest.a.B.forward.0", "", (), "ModuleTest.a.B", Direction.FORWARD, 0, NodeKind.MODULE),
    ("TensorTest.add.0.forward", "", (), "TensorTest.add", Direction.FORWARD, 0, NodeKind.MODULE),
    ("Module.forward_head.forward.Head.forward.1", "Module", ("forward_head", "forward"), "Head", Direction.FORWARD, 1, NodeKind.MODULE),
    ("Module.parameters_grad.backward.B.forward.0", "Module", ("parameters_grad", "backward"), "B", Direction.FORWARD, 0, NodeKind.MODULE),
    ("Module.a.B.forward.007", "Module", ("a", "B", "forward"), "007", Direction.NONE, -1, NodeKind.MODULE),
    ("Module", "", (), "Module", Direction.NONE, -1, NodeKind.MODULE),
    ("", "", (), "", Direction.NONE, -1, NodeKind.MODULE),
])
def test_names_are_taken_apart_by_component(name: str, prefix: str, path: tuple[str, ...], label: str, direction: Direction, call: int,
                                            kind: NodeKind) -> None:
    columns = parse_names([name])
    assert (columns.labels[columns.prefix[0]], columns.paths[columns.path[0]], columns.labels[columns.label[0]]) == (prefix, path, label)
    assert (columns.direction[0], columns.call[0], columns.kind[0]) == (direction, call, kind)


# ---------------------------------------------------------------- places and order


def test_a_tree_in_call_order(build: Any) -> None:
    tree = build({"Functional.embedding.0.forward": "Module.m.Emb.forward.0", "Module.model.Model.forward.0": None,
                  "Module.m.Emb.forward.0": "Module.model.Model.forward.0", "Torch.add.0.forward": "Module.model.Model.forward.0"})
    assert outline(tree) == ["Module.model.Model.forward.0", ".Module.m.Emb.forward.0", "..Functional.embedding.0.forward",
                             ".Torch.add.0.forward"]
    assert tree.names[0] == "DefaultModel"
    assert tree.end.tolist() == [5, 5, 4, 4, 5]
    assert tree.dump_node.tolist() == [-1, 1, 2, 0, 3]
    check_columns(tree)


def test_several_modules_may_stand_at_the_root(build: Any) -> None:
    names = ["Module.0.embedding.Emb.forward.0", "Module.0.decoder.Block.forward.0", "Module.0.output_layer.Linear.forward.0"]
    assert outline(build(dict.fromkeys(names))) == names


def test_nodes_with_data_are_flagged(build: Any) -> None:
    tree = build({"a": None, "b": None}, {"a": {"output": [tensor()]}})
    assert flagged(tree, FLAG_HAS_DATA) == ["a"]


def test_in_place_apis_are_flagged(build: Any) -> None:
    names = ["Tensor.add_.0.forward", "Module.a.B.forward.0", "Tensor.__iadd__.0.forward", "Module.b_.C_.forward.0",
             "Torch.add.0.forward"]
    assert flagged(build(dict.fromkeys(names)), FLAG_INPLACE) == ["Tensor.add_.0.forward", "Tensor.__iadd__.0.forward"]
    assert [name for name in ("mul_", "__setitem__", "__add__", "__init__", "mul") if is_in_place(name)] == ["mul_", "__setitem__"]


def test_merged_exports_name_the_root(build: Any) -> None:
    tree = build({"Module.a.B.forward.0": "DefaultModel"})
    assert (outline(tree), tree.warnings) == (["Module.a.B.forward.0"], [])


# ---------------------------------------------------------------- what has no place


def test_nodes_under_unknown_parents_are_kept_under_unplaced(build: Any) -> None:
    tree = build({"a": None, "b": "ghost", "c": "b"})
    assert outline(tree) == ["a", "Unplaced", ".b", "..c"]
    assert tree.kind[tree.names.index("Unplaced")] == NodeKind.UNPLACED
    assert tree.warnings == ['construct.json: 1 node under parents that are not in the dump ("ghost") kept under Unplaced: "b"']


def test_a_node_that_is_its_own_parent_is_kept_under_unplaced(build: Any) -> None:
    tree = build({"a": None, "b": "b", "c": "b"})
    assert outline(tree) == ["a", "Unplaced", ".b", "..c"]
    assert tree.warnings == ['construct.json: "b" is its own parent, kept under Unplaced']


def test_circles_of_parents_keep_all_their_nodes(build: Any) -> None:
    tree = build({"x": "b", "a": "c", "b": "a", "c": "b", "d": "c", "e": None})
    assert outline(tree) == ["e", "Unplaced", ".a", "..b", "...x", "...c", "....d"]
    assert tree.warnings == ['construct.json: "a" closes a circle of 3 parents ("a", "b", "c"), kept under Unplaced']


def test_every_circle_is_broken_once(build: Any) -> None:
    tree = build({"a": "b", "b": "a", "c": "d", "d": "c", "e": "e"})
    assert outline(tree) == ["Unplaced", ".a", "..b", ".c", "..d", ".e"]
    assert len(tree.warnings) == 3


def test_data_without_a_construct_entry_is_kept_under_unplaced(build: Any) -> None:
    tree = build({"a": None, "b": "stray"}, {"a": {}, "stray": {"output": [tensor()]}})
    assert outline(tree) == ["a", "Unplaced", ".stray", "..b"]
    assert tree.warnings == ['construct.json has no entry for 1 node of dump.json, kept under Unplaced: "stray"']


# ---------------------------------------------------------------- backward


FORWARD = {"Module.m.Model.forward.0": None, "Module.m.l.Layer.forward.0": "Module.m.Model.forward.0",
           "Torch.add.0.forward": "Module.m.l.Layer.forward.0"}


def test_a_backward_node_without_parent_goes_where_its_forward_twin_says(build: Any) -> None:
    tree = build({**FORWARD, "Module.m.Model.backward.0": None, "Module.m.l.Layer.backward.0": None, "Torch.add.0.backward": None})
    assert parent_of(tree, "Module.m.l.Layer.backward.0") == "Module.m.Model.backward.0"
    assert parent_of(tree, "Torch.add.0.backward") == "Module.m.l.Layer.backward.0"


def test_a_backward_node_stays_at_the_root_when_there_is_no_backward_parent(build: Any) -> None:
    tree = build({**FORWARD, "Module.m.l.Layer.backward.0": None})
    assert parent_of(tree, "Module.m.l.Layer.backward.0") == "DefaultModel"


def test_the_call_number_of_the_twin_decides(build: Any) -> None:
    tree = build({**FORWARD, "Module.m.Model.forward.1": None, "Module.m.l.Layer.forward.1": "Module.m.Model.forward.1",
                  "Module.m.Model.backward.1": None, "Module.m.l.Layer.backward.1": None,
                  "Module.m.Model.backward.0": None, "Module.m.l.Layer.backward.0": None})
    assert parent_of(tree, "Module.m.l.Layer.backward.1") == "Module.m.Model.backward.1"
    assert parent_of(tree, "Module.m.l.Layer.backward.0") == "Module.m.Model.backward.0"


def test_a_module_filed_outside_the_module_that_contains_it_follows_its_twin(build: Any) -> None:
    forward = {"Module.m.Model.forward.0": None, "Module.m.a.A.forward.0": "Module.m.Model.forward.0",
               "Module.m.a.lin.Linear.forward.0": "Module.m.a.A.forward.0"}
    tree = build({**forward, "Module.m.Model.backward.0": None, "Module.m.a.A.backward.0": "Module.m.Model.backward.0",
                  "Module.m.a.lin.Linear.backward.0": "Module.m.Model.backward.0"})
    assert parent_of(tree, "Module.m.a.lin.Linear.backward.0") == "Module.m.a.A.backward.0"


def test_a_module_filed_below_another_one_goes_to_the_root_with_its_twin(build: Any) -> None:
    tree = build({"Module.emb.E.forward.0": None, "Module.dec.D.forward.0": None, "Module.dec.D.backward.0": None,
                  "Module.emb.E.backward.0": "Module.dec.D.backward.0"})
    assert parent_of(tree, "Module.emb.E.backward.0") == "DefaultModel"


def test_a_module_filed_below_the_module_that_contains_it_stays(build: Any) -> None:
    forward = {"Module.m.Model.forward.0": None, "Module.m.l.L.forward.0": None}
    tree = build({**forward, "Module.m.Model.backward.0": None, "Module.m.l.L.backward.0": "Module.m.Model.backward.0"})
    assert parent_of(tree, "Module.m.l.L.backward.0") == "Module.m.Model.backward.0"


def test_an_api_filed_below_the_wrong_backward_call_follows_its_twin(build: Any) -> None:
    tree = build({**FORWARD, "Module.m.Model.backward.0": None, "Module.m.l.Layer.backward.0": "Module.m.Model.backward.0",
                  "Torch.add.0.backward": "Module.m.Model.backward.0"})
    assert parent_of(tree, "Torch.add.0.backward") == "Module.m.l.Layer.backward.0"


def test_modules_whose_names_hold_the_word_forward_have_their_own_twin(build: Any) -> None:
    tree = build({"Module.forward.M.forward.0": None, "Module.forward.h.forward_head.forward.0": "Module.forward.M.forward.0",
                  "Module.forward.M.backward.0": None, "Module.forward.h.forward_head.backward.0": None})
    assert parent_of(tree, "Module.forward.h.forward_head.backward.0") == "Module.forward.M.backward.0"


def test_what_was_filed_below_a_finished_backward_call_stands_at_the_root(build: Any) -> None:
    open_call = "Module.m.a.A.backward.0"
    tree = build({
        "Module.m.M.forward.0": None, "Module.m.a.A.forward.0": "Module.m.M.forward.0",
        "Torch.loss.0.forward": None, "Torch.mean.0.forward": None,
        "Module.m.M.backward.0": None, open_call: "Module.m.M.backward.0", "Torch.inside.0.forward": open_call,
        "Module.m.M.forward.1": open_call, "Module.m.a.A.forward.1": "Module.m.M.forward.1", "Torch.loss.1.forward": open_call,
        "Torch.mean.1.forward": open_call, "Module.m.M.backward.1": open_call, "Module.m.a.A.backward.1": "Module.m.M.backward.1"})
    assert outline(tree) == [
        "Module.m.M.forward.0", ".Module.m.a.A.forward.0", "Apis_Between_Modules.0", ".Torch.loss.0.forward", ".Torch.mean.0.forward",
        "Module.m.M.backward.0", ".Module.m.a.A.backward.0", "..Torch.inside.0.forward",
        "Module.m.M.forward.1", ".Module.m.a.A.forward.1", "Apis_Between_Modules.1", ".Torch.loss.1.forward", ".Torch.mean.1.forward",
        "Module.m.M.backward.1", ".Module.m.a.A.backward.1"]
    assert tree.micro_steps == 2
    assert tree.warnings == [f'construct.json: 4 nodes filed below a backward call that was over by then, moved to the root: "{open_call}"']


# ---------------------------------------------------------------- parameter gradients


@pytest.mark.parametrize("name", ["Module.a.L.parameters_grad", "Module.a.L.parameters_grad.0"])
def test_parameter_gradients_stand_last_below_the_backward_call(build: Any, name: str) -> None:
    tree = build({"Module.a.L.forward.0": None, "Module.a.L.backward.0": None, "Torch.f.0.backward": "Module.a.L.backward.0"},
                 {name: {"weight": [tensor()]}})
    assert outline(tree)[1:] == ["Module.a.L.backward.0", ".Torch.f.0.backward", "." + name]
    assert tree.kind[-1] == NodeKind.PARAMETERS_GRAD and tree.direction[-1] == Direction.BACKWARD


def test_parameter_gradients_of_a_module_called_twice_stand_below_its_last_backward_call(build: Any) -> None:
    calls = ["Module.a.L.forward.0", "Module.a.L.forward.1", "Module.a.L.backward.1", "Module.a.L.backward.0"]
    tree = build(dict.fromkeys(calls), {"Module.a.L.parameters_grad.0": {"weight": [tensor()]}})
    assert parent_of(tree, "Module.a.L.parameters_grad.0") == "Module.a.L.backward.1"


def test_parameter_gradients_of_each_micro_step_stand_in_their_step(build: Any) -> None:
    calls = [f"Module.a.L.{direction}.{step}" for step in (0, 1) for direction in ("forward", "backward")]
    tree = build(dict.fromkeys(calls), {f"Module.a.L.parameters_grad.{step}": {"weight": [tensor()]} for step in (1, 0)})
    for step in (0, 1):
        assert parent_of(tree, f"Module.a.L.parameters_grad.{step}") == f"Module.a.L.backward.{step}"
        assert steps(tree)[f"Module.a.L.parameters_grad.{step}"] == step


def test_one_gradient_a_micro_step_though_the_module_is_called_twice_in_each(build: Any) -> None:
    calls = [f"Module.a.L.{direction}.{call}" for first in (0, 2) for direction in ("forward", "backward") for call in (first, first + 1)]
    tree = build(dict.fromkeys(calls), {f"Module.a.L.parameters_grad.{step}": {"weight": [tensor()]} for step in (0, 1)})
    assert parent_of(tree, "Module.a.L.parameters_grad.0") == "Module.a.L.backward.1"
    assert parent_of(tree, "Module.a.L.parameters_grad.1") == "Module.a.L.backward.3"


def test_parameter_gradients_without_a_backward_call_are_kept(build: Any) -> None:
    tree = build({"Module.a.L.forward.0": None}, {"Module.a.L.parameters_grad": {"weight": [tensor()]}, "Module.b.L.parameters_grad": {}})
    assert outline(tree) == ["Module.a.L.forward.0", ".Module.a.L.parameters_grad", "Unplaced", ".Module.b.L.parameters_grad"]


def test_parameter_gradients_of_a_module_that_was_never_called_are_kept(build: Any) -> None:
    tree = build({"Module.a.L.parameters_grad.0": None})
    assert outline(tree) == ["Unplaced", ".Module.a.L.parameters_grad.0"]


# ---------------------------------------------------------------- APIs at the root


def test_runs_of_apis_at_the_root_are_collected(build: Any) -> None:
    names = ["Torch.a.0.forward", "Torch.b.0.forward", "Module.m.M.forward.0", "Torch.c.0.forward", "Module.n.N.forward.0",
             "Torch.d.0.forward", "Torch.e.0.forward", "Torch.f.0.forward"]
    tree = build(dict.fromkeys(names))
    assert outline(tree) == [
        "Apis_Between_Modules.0", ".Torch.a.0.forward", ".Torch.b.0.forward", "Module.m.M.forward.0", "Torch.c.0.forward",
        "Module.n.N.forward.0", "Apis_Between_Modules.1", ".Torch.d.0.forward", ".Torch.e.0.forward", ".Torch.f.0.forward"]
    collection = tree.names.index("Apis_Between_Modules.1")
    assert (tree.kind[collection], tree.call[collection], tree.dump_node[collection]) == (NodeKind.API_COLLECTION, 1, -1)
    check_columns(tree)


def test_apis_below_modules_are_not_collected(build: Any) -> None:
    tree = build({"Module.m.M.forward.0": None, "Torch.a.0.forward": "Module.m.M.forward.0", "Torch.b.0.forward": "Module.m.M.forward.0"})
    assert outline(tree) == ["Module.m.M.forward.0", ".Torch.a.0.forward", ".Torch.b.0.forward"]


# ---------------------------------------------------------------- real dumps


@pytest.mark.parametrize("folder", RANK_DIRECTORIES, ids=lambda folder: str(folder.relative_to(DATA)))
def test_every_node_of_a_real_dump_stands_in_the_tree_once(folder: Path) -> None:
    dump = read_dump(folder)
    tree = build_tree(dump)
    check_columns(tree)
    assert sorted(tree.dump_node[tree.dump_node >= 0].tolist()) == list(range(len(dump.names)))
    assert all(node < 0 or dump.names[node] == name for name, node in zip(tree.names, tree.dump_node))


def test_megatron_backward_apis_stand_in_the_module_that_called_them() -> None:
    tree = build_tree(read_dump(DATA / "megatron_vs_hf" / "megatron" / "step0" / "rank0"))
    attention = "Module.0.decoder.layers.3.self_attention.core_attention.DotProductAttention"
    assert parent_of(tree, "Torch.baddbmm.3.forward") == f"{attention}.forward.0"
    assert parent_of(tree, "Torch.baddbmm.3.backward") == f"{attention}.backward.0"


# ---------------------------------------------------------------- any tree

some_names = st.sampled_from([f"{stem}.{direction}.{call}" for stem in ("Module.a.A", "Module.a.b.B", "Module.a.b.c.C") for call in (0, 1)
                              for direction in ("forward", "backward")]
                             + [f"Torch.f.{call}.{direction}" for call in (0, 1) for direction in ("forward", "backward")]
                             + ["optimizer", "Module.a.A.parameters_grad", "Module.a.b.B.parameters_grad.0", "x"])
parents = st.one_of(st.none(), some_names, st.just("ghost"), st.tuples(st.one_of(st.none(), some_names), st.integers(0, 3)).map(list))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(construct=st.dictionaries(some_names, parents, min_size=1, max_size=14), data=st.sets(some_names, max_size=4),
       stack=st.dictionaries(some_names, st.sampled_from([CHECKPOINT, TRAINING]), max_size=4))
def test_no_node_is_ever_lost(tmp_path: Path, construct: dict[str, Any], data: set[str], stack: dict[str, Any]) -> None:
    dump = read_dump(write_dump(tmp_path, {name: {"output": []} for name in sorted(data)}, construct, stack))
    tree = build_tree(dump)
    check_columns(tree)
    assert sorted(tree.dump_node[tree.dump_node >= 0].tolist()) == list(range(len(dump.names)))


# ---------------------------------------------------------------- size


def test_a_chain_ten_thousand_deep(build: Any) -> None:
    names = [f"Module.{i}.M.forward.0" for i in range(10_000)]
    tree = build(dict(zip(names, [None, *names])))
    assert tree.depth.tolist() == list(range(10_001))
    assert set(tree.end.tolist()) == {10_001}


def test_a_chain_filed_from_the_inside_out(build: Any) -> None:
    names = [f"Module.{i}.M.forward.0" for i in range(2000)]
    tree = build(dict(zip(reversed(names), [*reversed(names[:-1]), None])))
    assert tree.names[1:] == names


def test_fifty_thousand_children(build: Any) -> None:
    names = [f"Torch.f.{i}.forward" for i in range(50_000)]
    tree = build({"optimizer": None, **dict.fromkeys(names, "optimizer")})
    assert tree.names[2:] == names
    assert tree.end[1] == 50_002
