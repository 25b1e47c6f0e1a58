"""The tree of a dump: micro steps and recomputation."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from converter.dumps.layout import find_ranks
from converter.dumps.reader import read_dump
from converter.tree.build import build_tree
from converter.tree.checkpoint_stacks import runs_in_backward
from converter.tree.columns import FLAG_RECOMPUTED
from tests.dump_files import DATA, tensor
from tests.tree_outline import CALL, CHECKPOINT, ENGINE, TRAINING, build_from, flagged, outline, parent_of, steps


@pytest.fixture
def build(tmp_path: Path) -> Any:
    """Builds the tree of a dump given by its files."""
    return partial(build_from, tmp_path)


# ---------------------------------------------------------------- micro steps


def test_a_forward_module_after_a_backward_one_begins_a_micro_step(build: Any) -> None:
    tree = build({
        "Module.e.E.forward.0": None, "Module.m.M.forward.0": None, "Torch.loss.0.forward": None,
        "Module.m.M.backward.0": None, "Torch.x.0.backward": None,
        "Module.e.E.forward.1": None, "Module.m.M.forward.1": None, "Module.m.l.L.forward.1": "Module.m.M.forward.1",
        "Torch.loss.1.forward": None,
        "Module.m.M.backward.1": None, "optimizer": None, "Torch.step.0.forward": "optimizer"})
    assert tree.micro_steps == 2
    assert {name for name, step in steps(tree).items() if step == 0} == {
        "DefaultModel", "Module.e.E.forward.0", "Module.m.M.forward.0", "Torch.loss.0.forward", "Module.m.M.backward.0",
        "Torch.x.0.backward"}


def test_an_optimizer_begins_no_micro_step(build: Any) -> None:
    tree = build({"Module.m.M.forward.0": None, "optimizer": None, "Module.m.M.forward.1": None, "Module.m.M.backward.1": None})
    assert tree.micro_steps == 1


def test_micro_steps_stated_by_megatron(build: Any) -> None:
    tree = build({
        "megatron_micro_step_number": 1,
        "Module.m.M.forward.0": [None, 0], "Module.m.M.forward.1": [None, 1], "Torch.a.0.forward": ["Module.m.M.forward.1", 1],
        "Module.m.M.backward.0": [None, 0], "Module.m.M.backward.1": [None, 1], "Module.m.l.L.backward.1": "Module.m.M.backward.1",
        "optimizer": None},
        {"Module.m.M.parameters_grad.0": {"w": [tensor()]}, "Module.m.M.parameters_grad.1": {"w": [tensor()]}})
    assert tree.micro_steps == 2
    assert {name for name, step in steps(tree).items() if step == 1} == {
        "Module.m.M.forward.1", "Torch.a.0.forward", "Module.m.M.backward.1", "Module.m.l.L.backward.1", "Module.m.M.parameters_grad.1",
        "optimizer"}


def test_a_node_at_the_root_without_a_stated_step_has_that_of_its_twin(build: Any) -> None:
    tree = build({"Module.m.M.forward.0": [None, 0], "Module.m.M.forward.1": [None, 1], "Module.m.M.backward.0": None})
    assert steps(tree)["Module.m.M.backward.0"] == 0


def test_collections_do_not_cross_stated_micro_steps(build: Any) -> None:
    tree = build({"Torch.a.0.forward": [None, 0], "Torch.b.0.forward": [None, 0],
                  "Torch.c.0.forward": [None, 1], "Torch.d.0.forward": [None, 1]})
    assert outline(tree) == ["Apis_Between_Modules.0", ".Torch.a.0.forward", ".Torch.b.0.forward",
                             "Apis_Between_Modules.1", ".Torch.c.0.forward", ".Torch.d.0.forward"]
    assert steps(tree)["Apis_Between_Modules.1"] == 1


# ---------------------------------------------------------------- recomputation


def recomputation(backward_call: int = 1) -> dict[str, Any]:
    """Two micro steps of a model with one layer that is computed again in backward."""
    construct: dict[str, Any] = {}
    for step in (0, 1):
        original, again = 2 * step, 2 * step + 1
        construct.update({
            f"Module.m.M.forward.{step}": None,
            f"Module.m.l.0.L.forward.{original}": f"Module.m.M.forward.{step}",
            f"Module.m.l.0.n.N.forward.{original}": f"Module.m.l.0.L.forward.{original}",
            f"Module.m.M.backward.{step}": None,
            f"Module.m.l.0.L.forward.{again}": None,
            f"Module.m.l.0.n.N.forward.{again}": f"Module.m.l.0.L.forward.{again}",
            f"Module.m.l.0.L.backward.{again if backward_call else step}": None,
        })
    return construct


@pytest.mark.parametrize("numbered", [1, 0], ids=["backward numbered like the recomputed call", "backward counted from 0"])
def test_recomputed_calls_stand_below_the_backward_call_around_them(build: Any, numbered: int) -> None:
    tree = build(recomputation(numbered), stack=dict.fromkeys(("Module.m.l.0.L.forward.1", "Module.m.l.0.L.forward.3"), CHECKPOINT))
    expected = []
    for step in (0, 1):
        original, again = 2 * step, 2 * step + 1
        expected += [f"Module.m.M.forward.{step}", f".Module.m.l.0.L.forward.{original}", f"..Module.m.l.0.n.N.forward.{original}",
                     f"Module.m.M.backward.{step}", f".Module.m.l.0.L.forward.{again}", f"..Module.m.l.0.n.N.forward.{again}",
                     f".Module.m.l.0.L.backward.{again if numbered else step}"]
    assert outline(tree) == expected
    assert flagged(tree, FLAG_RECOMPUTED) == [f"Module.m.l.0.{name}.forward.{call}" for call in (1, 3) for name in ("L", "n.N")]
    assert tree.micro_steps == 2
    assert steps(tree)["Module.m.l.0.n.N.forward.3"] == 1


def test_recomputed_calls_are_known_without_a_stack(build: Any) -> None:
    assert len(flagged(build(recomputation()), FLAG_RECOMPUTED)) == 4


def test_mindspore_needs_no_proof_by_stack(build: Any) -> None:
    construct = {name.replace("Module.", "Cell."): parent and parent.replace("Module.", "Cell.")
                 for name, parent in recomputation().items()}
    tree = build(construct, stack=dict.fromkeys(construct, TRAINING), framework="mindspore")
    assert len(flagged(tree, FLAG_RECOMPUTED)) == 4


def test_a_module_called_again_from_the_training_script_is_no_recomputation(build: Any) -> None:
    tree = build({"Module.m.M.forward.0": None, "Module.m.head.H.forward.0": "Module.m.M.forward.0", "Module.m.head.H.forward.1": None},
                 stack={"Module.m.head.H.forward.1": TRAINING})
    assert flagged(tree, FLAG_RECOMPUTED) == []
    assert parent_of(tree, "Module.m.head.H.forward.1") == "DefaultModel"


def test_a_forward_call_filed_below_a_backward_one_is_recomputed(build: Any) -> None:
    tree = build({"Module.m.M.forward.0": None, "Module.m.l.L.forward.0": "Module.m.M.forward.0", "Module.m.M.backward.0": None,
                  "Module.m.l.L.forward.1": "Module.m.M.backward.0", "Torch.a.1.forward": "Module.m.l.L.forward.1",
                  "Torch.b.0.forward": "Module.m.M.backward.0"})
    assert flagged(tree, FLAG_RECOMPUTED) == ["Module.m.l.L.forward.1", "Torch.a.1.forward"]


def test_a_recomputed_call_filed_deep_inside_backward_stands_beside_the_backward_call_of_its_module(build: Any) -> None:
    tree = build({"Module.m.M.forward.0": None, "Module.m.l.L.forward.0": "Module.m.M.forward.0",
                  "Module.m.l.a.A.forward.0": "Module.m.l.L.forward.0", "Module.m.M.backward.0": None,
                  "Module.m.l.L.backward.0": "Module.m.M.backward.0", "Module.m.l.a.A.backward.0": "Module.m.l.L.backward.0",
                  "Module.m.l.L.forward.1": "Module.m.l.a.A.backward.0", "Module.m.l.a.A.forward.1": "Module.m.l.L.forward.1"},
                 stack={"Module.m.l.L.forward.1": CHECKPOINT})
    assert parent_of(tree, "Module.m.l.L.forward.1") == "Module.m.M.backward.0"
    assert flagged(tree, FLAG_RECOMPUTED) == ["Module.m.l.L.forward.1", "Module.m.l.a.A.forward.1"]


def test_recomputed_modules_of_the_root_begin_no_micro_step(build: Any) -> None:
    construct = dict.fromkeys(["Module.0.L.forward.0", "Module.1.L.forward.0", "Module.1.L.forward.1", "Module.1.L.backward.1",
                               "Module.0.L.forward.1", "Module.0.L.backward.1"])
    assert build(construct).micro_steps == 2
    tree = build(construct, stack=dict.fromkeys(("Module.0.L.forward.1", "Module.1.L.forward.1"), CHECKPOINT))
    assert tree.micro_steps == 1
    assert flagged(tree, FLAG_RECOMPUTED) == ["Module.1.L.forward.1", "Module.0.L.forward.1"]


@pytest.mark.parametrize("name", ["reentrant", "non_reentrant"])
def test_recomputation_in_a_real_dump(name: str) -> None:
    [rank], _ = find_ranks(str(DATA / "recompute" / name))
    tree = build_tree(read_dump(rank.path))
    assert tree.micro_steps == 2
    modules = [node for node in flagged(tree, FLAG_RECOMPUTED) if node.startswith("Module.") and ".Layer." in node]
    assert sorted(modules) == [f"Module.model.block.layers.{layer}.Layer.forward.{call}" for layer in (0, 1) for call in (1, 3)]
    for node in modules:
        step = (int(node[-1]) - 1) // 2
        assert parent_of(tree, node) == f"Module.model.block.Block.backward.{step}"
        assert steps(tree)[node] == step
    call = 3 if name == "reentrant" else 2
    assert parent_of(tree, f"Module.model.block.layers.0.Layer.backward.{call}") == "Module.model.block.Block.backward.1"


@pytest.mark.parametrize(("stack", "proof"), [
    (CHECKPOINT, True),
    (TRAINING, False),
    (["File C:\\env\\torch\\utils\\checkpoint.py, line 2, in recompute_fn, \n"], True),
    (["File /env/mytorch/utils/checkpoint.py, line 2, in recompute_fn, \n"], False),
    (["File /env/deepspeed/checkpointing.py, line 5, in backward, \n", ENGINE], True),
    (["File /env/a.py, line 5, in backward, \n", CALL, ENGINE], True),
    (["File /env/a.py, line 5, in backward, \n", CALL, CALL, ENGINE], False),
    (["File /x/megatron/core/random.py, line 5, in checkpoint_function_backward, \n", ENGINE], True),
    (["File /x/other/random.py, line 5, in checkpoint_function_backward, \n", ENGINE], False),
    (["nonsense"], False),
    ([], False),
])
def test_call_stacks_of_recomputation(stack: list[str], proof: bool) -> None:
    assert runs_in_backward(tuple(stack)) is proof


# ---------------------------------------------------------------- real dumps


@pytest.mark.parametrize(("name", "count"), [("hf_2steps_2micro", 2), ("megatron_2steps_2micro", 2), ("megatron", 1), ("deepspeed", 1)])
def test_micro_steps_of_real_dumps(name: str, count: int) -> None:
    tree = build_tree(read_dump(DATA / "megatron_vs_hf" / name / "step0" / "rank0"))
    assert tree.micro_steps == count
    assert flagged(tree, FLAG_RECOMPUTED) == []


def test_the_second_micro_step_of_megatron_looks_like_the_first() -> None:
    tree = build_tree(read_dump(DATA / "megatron_vs_hf" / "megatron_2steps_2micro" / "step1" / "rank0"))
    shapes: list[list[Any]] = [[], []]
    for node in range(1, tree.count):
        # Rotary embeddings are kept from the first step on, so that their APIs run once.
        if "rotary_pos_emb" not in tree.names[node] and "rotary_pos_emb" not in parent_of(tree, tree.names[node]):
            columns = (tree.depth, tree.kind, tree.direction, tree.path, tree.label)
            shapes[tree.micro_step[node]].append([column[node] for column in columns])
    assert shapes[0] == shapes[1]
