"""The overflow check and the trace of the first non-finite value."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs_by_entry import forward, graph, scalar, tensor

from converter.dumps.reader import read_dump
from converter.errors import UserError
from converter.graphfile.content import GraphContent, GraphSide, Provenance, side_of
from converter.judge.nonfinite import NonFiniteTrace, trace_nonfinite, trace_sentence
from converter.judge.overflow import CRITICAL, HIGH, MEDIUM, NONE, overflow_levels, read_rules, shipped_rules
from converter.rank_task import RankData
from converter.report import graph_report, summary_lines
from converter.tree.build import build_tree
from converter.tree.graph import Graph, graph_of

DATA = Path(__file__).parent / "data"
NAN = tensor(math.nan, math.nan, math.nan, math.nan)
FINE = tensor()
MASK = tensor(0.0, -math.inf, -math.inf, math.inf)


def level(directory: Path, name: str, entry: dict[str, Any]) -> int:
    found = graph(directory, {name: entry})
    return int(overflow_levels(found)[found.tree.names.index(name)])


def real(name: str) -> Graph:
    dump = read_dump(str(DATA / name / "step0/rank0"))
    return graph_of(dump, build_tree(dump))


# ---- levels ----


@pytest.mark.parametrize(("inputs", "outputs", "expected"), [
    ([FINE], [NAN], CRITICAL), ([NAN], [NAN], HIGH), ([NAN], [FINE], MEDIUM), ([FINE], [FINE], NONE), ([], [NAN], CRITICAL),
    ([FINE, NAN], [FINE], MEDIUM), ([[FINE, [NAN]]], [FINE], MEDIUM), ([FINE], [FINE, {"logits": NAN}], CRITICAL),
])
def test_levels_follow_abnormal_inputs_and_outputs(tmp_path: Path, inputs: list[Any], outputs: list[Any], expected: int) -> None:
    assert level(tmp_path, "Torch.exp.0.forward", forward(inputs, outputs)) == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "nan", "inf", "-Inf"])
@pytest.mark.parametrize("statistic", ["largest", "least", "mean"])
def test_any_of_max_min_and_mean_makes_a_tensor_abnormal(tmp_path: Path, statistic: str, value: Any) -> None:
    assert level(tmp_path, "Torch.exp.0.forward", forward([FINE], [tensor(**{statistic: value})])) == CRITICAL


def test_an_infinite_norm_alone_is_growth(tmp_path: Path) -> None:
    assert level(tmp_path, "Torch.exp.0.forward", forward([FINE], [tensor(norm=math.inf)])) == HIGH


def test_keyword_arguments_are_inputs_and_parameters_are_not(tmp_path: Path) -> None:
    assert level(tmp_path / "a", "Torch.exp.0.forward", forward([], [FINE], x=NAN)) == MEDIUM
    assert level(tmp_path / "b", "Module.fc.Linear.forward.0", forward([FINE], [NAN], {"weight": NAN})) == CRITICAL


def test_backward_calls_have_levels_too(tmp_path: Path) -> None:
    assert level(tmp_path, "Torch.exp.0.backward", {"input": [FINE], "output": [NAN]}) == CRITICAL


@pytest.mark.parametrize(("before", "after", "expected"), [(1.0, 100.0, NONE), (1.0, 100.1, HIGH), (0.0, 100.0, NONE), (0.0, 101.0, HIGH)])
def test_growth_of_the_norm_beyond_a_hundred_times_is_high(tmp_path: Path, before: float, after: float, expected: int) -> None:
    assert level(tmp_path, "Torch.mul.0.forward", forward([tensor(norm=before)], [tensor(norm=after)])) == expected


def test_without_a_norm_among_the_inputs_nothing_grows(tmp_path: Path) -> None:
    ids = tensor(5, 0, None, None, dtype="torch.int64")
    assert level(tmp_path, "Functional.embedding.0.forward", forward([ids], [tensor(norm=500.0)])) == NONE


@pytest.mark.parametrize(("name", "entry"), [
    ("Torch.empty.0.forward", forward([scalar(4)], [NAN])),
    ("Torch.empty_like.0.forward", forward([FINE], [NAN])),
    ("Distributed.recv.0.forward", forward([NAN], [FINE])),
    ("Distributed.recv.0.forward", forward([], [FINE], tensor=NAN)),
    ("Distributed.all_gather.0.forward", forward([[NAN, NAN], FINE], [FINE])),
    ("Distributed.reduce_scatter.0.forward", forward([], [FINE], output=NAN, input_list=[FINE])),
    ("Distributed._reduce_scatter_base.0.forward", forward([NAN, FINE], [FINE])),
    ("Distributed.all_gather_into_tensor.0.forward", forward([NAN, FINE], [FINE])),
    ("Distributed.reduce_scatter_tensor.0.forward", forward([NAN, FINE], [FINE])),
    ("Tensor.masked_fill_.0.forward", forward([NAN, FINE], [FINE])),
    ("Torch.baddbmm.0.forward", forward([NAN, FINE, FINE], [FINE], beta=scalar(0.0))),
])
def test_placeholders_are_not_looked_at(tmp_path: Path, name: str, entry: dict[str, Any]) -> None:
    assert level(tmp_path, name, entry) == NONE


@pytest.mark.parametrize(("name", "entry", "expected"), [
    ("Torch.empty.0.forward", forward([NAN], [FINE]), MEDIUM),
    ("Distributed.all_gather.0.forward", forward([[FINE], NAN], [FINE]), MEDIUM),
    ("Functional.masked_fill_.0.forward", forward([NAN], [FINE]), MEDIUM),
    ("Torch.baddbmm.0.forward", forward([NAN, FINE, FINE], [FINE], beta=scalar(1.0)), MEDIUM),
])
def test_only_the_named_argument_of_the_named_api_is_a_placeholder(tmp_path: Path, name: str, entry: dict[str, Any], expected: int) -> None:
    assert level(tmp_path, name, entry) == expected


def test_the_real_run_with_a_nan_in_a_weight() -> None:
    found = real("megatron_vs_hf/megatron_bug_nan")
    levels = overflow_levels(found)
    of_name = dict(zip(found.tree.names, levels.tolist()))
    assert of_name["Module.0.decoder.layers.2.mlp.linear_fc1.ColumnParallelLinear.forward.0"] == CRITICAL
    assert of_name["Module.0.decoder.layers.2.mlp.linear_fc2.RowParallelLinear.forward.0"] == HIGH
    assert of_name["Module.0.decoder.layers.1.mlp.linear_fc2.RowParallelLinear.forward.0"] == NONE


@pytest.mark.parametrize("name", ["megatron_vs_hf/megatron", "mindspore_vs_torch/mindspore"])
def test_a_healthy_run_has_no_level(name: str) -> None:
    assert not overflow_levels(real(name)).any()


# ---- the trace ----


def trace(directory: Path, data: dict[str, Any], parents: dict[str, str | None] | None = None) -> tuple[Graph, NonFiniteTrace | None]:
    found = graph(directory, data, parents)
    return found, trace_nonfinite(found)


def test_a_parameter_is_the_origin(tmp_path: Path) -> None:
    found, first = trace(tmp_path, {"Module.a.Linear.forward.0": forward([FINE], [FINE], {"weight": FINE}),
                                    "Module.b.Linear.forward.0": forward([FINE], [NAN], {"weight": NAN}),
                                    "Torch.exp.0.forward": forward([NAN], [NAN])})
    assert first is not None
    names = found.tree.names
    assert (names[first.node], first.origin, first.value) == ("Module.b.Linear.forward.0", "parameter", "NaN")
    assert names[first.last_finite] == "Module.a.Linear.forward.0"
    assert [names[node] for node in first.spread] == ["Module.b.Linear.forward.0", "Torch.exp.0.forward"]
    assert trace_sentence(found, first)[0] == "the first NaN is in parameter weight of Module.b.Linear.forward.0"


def test_the_innermost_call_that_created_it_is_named_with_the_path_to_it(tmp_path: Path) -> None:
    data = {"Module.a.Block.forward.0": forward([FINE], [NAN]), "Torch.mul.0.forward": forward([FINE], [FINE]),
            "Module.a.mlp.MLP.forward.0": forward([FINE], [NAN]), "Torch.exp.0.forward": forward([FINE], [tensor(math.inf)])}
    block, mlp = "Module.a.Block.forward.0", "Module.a.mlp.MLP.forward.0"
    parents: dict[str, str | None] = {"Torch.mul.0.forward": block, mlp: block, "Torch.exp.0.forward": mlp}
    found, first = trace(tmp_path, data, parents)
    assert first is not None
    names = found.tree.names
    assert (names[first.node], first.origin, first.value) == ("Torch.exp.0.forward", "created", "Infinity")
    assert names[first.last_finite] == "Torch.mul.0.forward"
    assert [names[node] for node in first.path] == ["Module.a.mlp.MLP.forward.0", "Torch.exp.0.forward"]
    assert [names[node] for node in first.spread] == ["Module.a.mlp.MLP.forward.0", "Module.a.Block.forward.0"]


def test_what_arrives_between_two_calls_is_told_with_both(tmp_path: Path) -> None:
    found, first = trace(tmp_path, {"Torch.mul.0.forward": forward([FINE], [FINE]), "Torch.exp.0.forward": forward([NAN], [NAN])})
    assert first is not None
    assert first.origin == "arrived"
    english, chinese = trace_sentence(found, first)
    assert english == ("the first NaN is in input 0 of Torch.exp.0.forward: it arises after Torch.mul.0.forward, whose outputs are finite")
    assert "Torch.mul.0.forward" in chinese


def test_what_arrives_before_everything_else(tmp_path: Path) -> None:
    found, first = trace(tmp_path, {"Torch.exp.0.forward": forward([NAN], [NAN])})
    assert first is not None and first.last_finite == -1
    assert "before the first recorded call" in trace_sentence(found, first)[0]


def test_attention_masks_are_no_fault(tmp_path: Path) -> None:
    _, first = trace(tmp_path, {"Torch.full.0.forward": forward([scalar(4)], [MASK]), "Torch.triu.0.forward": forward([MASK], [MASK]),
                                "Tensor.__add__.0.forward": forward([FINE, MASK], [MASK]),
                                "Functional.softmax.0.forward": forward([MASK], [FINE]),
                                "Module.a.Attention.forward.0": forward([FINE], [FINE], attention_mask=MASK)})
    assert first is None


def test_minus_infinity_out_of_finite_inputs_is_one(tmp_path: Path) -> None:
    found, first = trace(tmp_path, {"Torch.log.0.forward": forward([FINE], [MASK])})
    assert first is not None
    assert (found.tree.names[first.node], first.origin, first.value) == ("Torch.log.0.forward", "created", "-Infinity")


def test_a_mean_that_overflows_over_finite_elements_is_no_fault(tmp_path: Path) -> None:
    assert trace(tmp_path, {"Torch.where.0.forward": forward([FINE], [tensor(0.0, -3.4e38, -math.inf, math.inf)])})[1] is None


def test_a_nan_in_the_mean_alone_is_one(tmp_path: Path) -> None:
    assert trace(tmp_path, {"Torch.exp.0.forward": forward([FINE], [tensor(mean=math.nan)])})[1] is not None


def test_memory_that_nobody_has_written_is_seen_through_views_without_alarm(tmp_path: Path) -> None:
    data = {"Torch.empty.0.forward": forward([scalar(4)], [NAN]), "Tensor.narrow.0.forward": forward([NAN], [NAN]),
            "Tensor.copy_.0.forward": forward([NAN, FINE], [FINE])}
    assert trace(tmp_path / "a", data)[1] is None
    assert trace(tmp_path / "b", {**data, "Torch.mul.0.forward": forward([NAN], [NAN])})[1] is not None


@pytest.mark.parametrize(("name", "node"), [
    ("megatron_vs_hf/megatron_bug_nan", "Module.0.decoder.layers.2.mlp.linear_fc1.ColumnParallelLinear.forward.0"),
    ("megatron_vs_hf/megatron", None), ("megatron_vs_hf/hf", None), ("megatron_vs_hf/deepspeed", None), ("mindspore_vs_torch/torch", None),
    ("qwen2_24l_mix_stat/golden", None),
])
def test_real_runs(name: str, node: str | None) -> None:
    found = real(name)
    first = trace_nonfinite(found)
    assert (None if first is None else found.tree.names[first.node]) == node


# ---- the rules ----


def test_the_shipped_rules_are_read_once_and_name_known_statistics() -> None:
    assert shipped_rules() is shipped_rules()
    assert shipped_rules().abnormal == (0, 1, 2)


@pytest.mark.parametrize("text", ["abnormal: [Maxx]", "abnormal: [Max]\nmutation: many", "- a", "abnormal: [", ""])
def test_rules_that_are_wrong_are_told_with_their_file(text: str) -> None:
    with pytest.raises(UserError, match=r"mine\.yaml"):
        read_rules(text, "mine.yaml")


# ---- in the report ----


def test_the_report_has_levels_and_the_trace_of_each_side_where_they_are_asked_for() -> None:
    content = GraphContent(0, 0, replace(real_side("megatron_vs_hf/megatron_bug_nan"), overflow=np.array([0, 1, 2, 3, 3], np.uint8)),
                           Provenance("test"), golden=real_side("megatron_vs_hf/hf"), overflow_check=True)
    found = graph_report(RankData(content, "statistics"), "a.pb")["overflow"]
    assert {key: found["target"][key] for key in ("medium", "high", "critical")} == {"medium": 1, "high": 1, "critical": 2}
    first = found["target"]["first_nonfinite"]
    assert first["node"] == "Module.0.decoder.layers.2.mlp.linear_fc1.ColumnParallelLinear.forward.0"
    assert (first["origin"], first["last_finite"]) == ("parameter", "Module.0.decoder.layers.2.pre_mlp_layernorm.RMSNorm.forward.0")
    assert found["golden"]["first_nonfinite"] is None
    assert "overflow" not in graph_report(RankData(replace(content, overflow_check=False), "statistics"), "a.pb")


def test_the_summary_tells_where_non_finite_values_begin() -> None:
    first = {"reason": "the first NaN is in output 0 of A"}
    overflow = {"target": {"medium": 0, "high": 2, "critical": 1, "first_nonfinite": first},
                "golden": {"medium": 0, "high": 0, "critical": 0, "first_nonfinite": None}}
    entry = {"step": 0, "rank": 0, "target": {"nodes": 3}, "overflow": overflow}
    assert summary_lines({"graphs": [entry], "overall": None})[1:] == [
        "step 0 rank 0 target: overflow check: 1 critical, 2 high", "step 0 rank 0 target: the first NaN is in output 0 of A"]


def real_side(name: str) -> GraphSide:
    dump = read_dump(str(DATA / name / "step0/rank0"))
    return side_of(dump, build_tree(dump))
