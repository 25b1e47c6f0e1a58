"""Layers that hold the norm before them, as Transformer Engine builds them, against layers that do not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from converter.compare.rows import compare
from converter.judge.judge import judge
from converter.judge.policy import load_policy
from converter.judge.verdict import Status
from converter.match.automatic import match_trees
from converter.rank_task import read_tree
from converter.tree.graph import graph_of
from tests.conversions import DATA, Result, graph

NORMS = {
    "input_layernorm.RMSNorm": "self_attention.linear_qkv.ColumnParallelLinear",
    "pre_mlp_layernorm.RMSNorm": "mlp.linear_fc1.ColumnParallelLinear",
}


def fuse_norms(source: str, destination: str) -> None:
    """Copy a Megatron dump with each norm moved into the linear layer behind it; an identity stands in its place."""
    with open(os.path.join(source, "construct.json"), encoding="utf-8") as file:
        construct: dict[str, Any] = json.load(file)
    with open(os.path.join(source, "dump.json"), encoding="utf-8") as file:
        dump: dict[str, Any] = json.load(file)
    data = dump["data"]
    for layer in range(4):
        for norm, linear in NORMS.items():
            base = f"Module.0.decoder.layers.{layer}."
            inner, outer = data[f"{base}{norm}.forward.0"], data[f"{base}{linear}.forward.0"]
            outer["parameters"] = {"layer_norm_weight": inner["parameters"]["weight"], **outer["parameters"]}
            outer["input_args"] = inner["input_args"]
            data[f"{base}{linear}.backward.0"]["output"] = data[f"{base}{norm}.backward.0"]["output"]
            data[f"{base}{linear}.parameters_grad.0"]["layer_norm_weight"] = data[f"{base}{norm}.parameters_grad.0"]["weight"]
            inner["output"], inner["parameters"] = inner["input_args"], {}
            data.pop(f"{base}{norm}.parameters_grad.0")

    def renamed(name: Any) -> Any:
        return name.replace("layernorm.RMSNorm", "layernorm.IdentityOp") if isinstance(name, str) and ".layers." in name else name

    apis = {name for name, parent in construct.items() if parent and "layernorm.RMSNorm" in parent}
    os.makedirs(destination, exist_ok=True)
    kept = {renamed(name): renamed(parent) for name, parent in construct.items() if name not in apis}
    rest = {renamed(name): entry for name, entry in data.items() if name not in apis}
    for file_name, content in (("construct.json", kept), ("dump.json", {**dump, "data": rest}), ("stack.json", {})):
        with open(os.path.join(destination, file_name), "w", encoding="utf-8") as file:
            json.dump(content, file)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_layer_with_its_norm_inside_agrees_with_one_without(tmp_path: Path, swapped: bool) -> None:
    fuse_norms(os.path.join(DATA, "megatron_vs_hf/megatron/step0/rank0"), str(tmp_path))
    left, right = graph_of(*read_tree(str(tmp_path))), graph("megatron_vs_hf/hf/step0/rank0")
    if swapped:
        left, right = right, left
    pairing = match_trees(left, right)
    comparison = compare(left, right, pairing, "statistics")
    found = Result(left, right, pairing, comparison, judge(comparison, pairing, left, right, load_policy("default")))
    assert found.count(Status.ERROR) == 0 and found.count(Status.WARNING) == 0
    assert found.verdicts.forward is None and found.verdicts.backward is None
    assert any("linear_qkv" in name or "q_proj" in name for name in found.pairs())
