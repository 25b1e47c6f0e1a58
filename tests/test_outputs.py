"""Outputs for machines: the CSV table, the JUnit file and the pairs as JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from graphs_by_entry import forward, graph, scalar, tensor

from converter.compare.columns import Comparison
from converter.compare.rows import compare
from converter.dumps.reader import read_dump
from converter.judge.judge import judge
from converter.judge.msprobe_rules import MESSAGES, judge_like_msprobe
from converter.judge.policy import load_policy
from converter.judge.verdict import Verdicts
from converter.match.automatic import match_trees
from converter.outputs.csv_table import COLUMNS, csv_header, csv_lines
from converter.outputs.junit import JUNIT_HEAD, JUNIT_TAIL, junit_suite
from converter.outputs.pairs_lines import pairs_lines
from converter.tree.build import build_tree
from converter.tree.graph import Graph, graph_of

DATA = Path(__file__).parent / "data"
LINEAR = "Module.net.fc.Linear.forward.0"


class Result:
    """Two graphs compared and judged, and their tables."""

    def __init__(self, target: Graph, golden: Graph, mode: str = "statistics", policy: str = "default") -> None:
        self.target, self.golden = target, golden
        self.pairing = match_trees(target, golden)
        self.comparison: Comparison = compare(target, golden, self.pairing, mode)
        rules = load_policy(policy)
        self.verdicts: Verdicts = judge(self.comparison, self.pairing, target, golden, rules)
        if policy == "msprobe":
            self.verdicts = judge_like_msprobe(self.verdicts, self.comparison, self.pairing, target, golden, rules)

    def csv(self) -> list[dict[str, str]]:
        lines = csv_lines(self.target, self.golden, self.pairing, self.comparison, self.verdicts, 3, 1)
        return list(csv.DictReader(io.StringIO(csv_header() + "".join(lines))))

    def junit(self) -> ElementTree.Element:
        suite = junit_suite(self.target, self.golden, self.pairing, self.comparison, self.verdicts, 3, 1)
        return ElementTree.fromstring((JUNIT_HEAD + "".join(suite) + JUNIT_TAIL).encode())[0]

    def pairs(self) -> list[dict[str, Any]]:
        lines = pairs_lines(self.target.tree, self.golden.tree, self.pairing, self.verdicts, 3, 1)
        return [json.loads(line, parse_constant=_refuse) for line in lines]


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def pair(directory: Path, target: Any, golden: Any, name: str = LINEAR, **options: Any) -> Result:
    return Result(graph(directory / "target", {name: target}), graph(directory / "golden", {name: golden}), **options)


def real(name: str) -> Graph:
    dump = read_dump(str(DATA / name / "step0/rank0"))
    return graph_of(dump, build_tree(dump))


@pytest.fixture(scope="module")
def fused() -> Result:
    return Result(real("megatron_vs_hf/megatron_bug_qkv_bias"), real("megatron_vs_hf/hf"))


# ---- CSV ----


def test_the_header_has_the_peers_columns_in_its_order_then_ours() -> None:
    names = csv_header().strip().split(",")
    assert names[:8] == ["NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape", "Bench Tensor Shape",
                         "NPU Requires_grad", "Bench Requires_grad"]
    assert names[8:14] == ["Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio", "Five Thousandths Err Ratio"]
    assert names[14:18] == ["Max diff", "Min diff", "Mean diff", "L2norm diff"]
    assert names[-4:] == ["Layout", "Cause", "Step", "Rank"]
    assert len(set(names)) == len(names) == len(COLUMNS)


def test_statistics_are_written_with_all_their_digits(tmp_path: Path) -> None:
    row = pair(tmp_path, forward([tensor(0.1 + 0.2)], []), forward([tensor(0.1)], [])).csv()[0]
    assert (row["NPU max"], row["Bench max"]) == ("0.30000000000000004", "0.1")
    assert row["Max diff"] == repr(0.30000000000000004 - 0.1)
    assert row["MaxRelativeErr"] == repr(abs((0.1 + 0.2 - 0.1) / 0.1) * 100) + "%"
    assert (row["Step"], row["Rank"]) == ("3", "1")


def test_names_of_inputs_keywords_parameters_and_outputs(tmp_path: Path) -> None:
    entry = forward([tensor(), [tensor()]], [tensor()], {"weight": tensor()}, mask=tensor())
    names = {row["NPU Name"] for row in pair(tmp_path, entry, entry).csv()}
    assert names == {f"{LINEAR}.{rest}" for rest in ("input.0", "input.1.0", "input.mask", "parameters.weight", "output.0")}


def test_gradients_are_named_below_their_node(tmp_path: Path) -> None:
    entry = {"weight": [tensor()]}
    row = pair(tmp_path, entry, entry, name="Module.net.fc.Linear.parameters_grad.0").csv()[0]
    assert row["NPU Name"] == "Module.net.fc.Linear.parameters_grad.0.weight"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_non_finite_numbers_can_be_read_back(tmp_path: Path, text: str) -> None:
    row = pair(tmp_path, forward([tensor(float(text))], []), forward([tensor(1.0)], [])).csv()[0]
    assert (row["NPU max"], row["Max diff"]) == (text, text)


def test_a_golden_zero_has_no_relative_error(tmp_path: Path) -> None:
    row = pair(tmp_path, forward([tensor(1.0)], []), forward([tensor(0.0)], [])).csv()[0]
    assert row["MaxRelativeErr"] == "N/A"


def test_scalars_bools_none_and_exact_integers(tmp_path: Path) -> None:
    entry = forward([scalar(3), None, tensor(True, False, None, None, dtype="torch.bool"),
                     tensor(2**63 - 1, 0, None, None, dtype="torch.int64")], [])
    rows = pair(tmp_path, entry, entry).csv()
    assert (rows[0]["NPU Dtype"], rows[0]["NPU Tensor Shape"]) == ("<class 'int'>", "[]")
    assert (rows[0]["NPU max"], rows[0]["NPU l2norm"]) == ("3", "3")
    assert (rows[1]["NPU Dtype"], rows[1]["NPU max"]) == ("N/A", "N/A")
    assert (rows[2]["NPU max"], rows[2]["NPU min"], rows[2]["NPU mean"], rows[2]["Max diff"]) == ("True", "False", "N/A", "N/A")
    assert rows[3]["NPU max"] == "9223372036854775807"


def test_what_one_side_lacks_is_not_available(tmp_path: Path) -> None:
    rows = pair(tmp_path, forward([tensor(), tensor()], []), forward([tensor()], [])).csv()
    assert {rows[1][name] for name in ("Bench Name", "Bench max", "Max diff")} == {"N/A"}
    assert rows[1]["Requires_grad Consistent"] == "False"
    assert rows[1]["Result"] == "error"
    assert rows[1]["Err_message"] == "only target has it"


def test_cells_that_a_spreadsheet_would_run_are_made_text(tmp_path: Path) -> None:
    entry = forward([{"type": "str", "value": "=1+1"}], [])
    row = pair(tmp_path, entry, entry, name="=cmd|calc").csv()[0]
    assert row["NPU Name"].startswith("'=cmd")
    assert row["NPU max"] == "'=1+1"


def test_commas_quotes_and_line_ends_in_names_stay_in_their_cell(tmp_path: Path) -> None:
    entry = forward([{"type": "str", "value": 'a,"b"\nc'}], [])
    assert pair(tmp_path, entry, entry).csv()[0]["NPU max"] == 'a,"b"\nc'


def test_under_the_peers_policy_the_message_is_the_peers(tmp_path: Path) -> None:
    row = pair(tmp_path, forward([tensor()], [tensor(norm=9.0)]), forward([tensor()], [tensor()]), policy="msprobe").csv()[1]
    assert row["Err_message"] == MESSAGES["relative"] + "\n" + MESSAGES["growth"]


def test_elements_take_the_place_of_percentages_in_tensor_mode(tmp_path: Path) -> None:
    result = pair(tmp_path, forward([tensor(2.0)], []), forward([tensor(1.0)], []))
    metrics = {"MaxRelativeErr": np.array([0.5]), "Cosine": np.array([math.nan]), "Worst Index": np.array([2.0]),
               "Worst Target": np.array([math.nan])}
    result.comparison = replace(result.comparison, metrics=metrics, mode="tensor", layouts={0: "golden [2,2] → permute(1,0)"})
    row = result.csv()[0]
    assert (row["MaxRelativeErr"], row["Cosine"], row["Worst Index"], row["Worst Target"]) == ("0.5", "N/A", "2.0", "nan")
    assert (row["Max diff"], row["MinRelativeErr"], row["Layout"]) == ("1.0", "0.0%", "golden [2,2] → permute(1,0)")


def test_a_fused_layer_is_one_row_against_all_its_parts(fused: Result) -> None:
    rows = {row["NPU Name"]: row for row in fused.csv()}
    row = rows["Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0.parameters.bias"]
    parts = [f"Module.model.layers.2.self_attn.{part}_proj.Linear.forward.0.parameters.bias" for part in "qkv"]
    assert row["Bench Name"] == " + ".join(parts)
    assert (row["Result"], row["Cause"], row["Bench Tensor Shape"]) == ("error", "parameter", "[128]")


# ---- JUnit ----


def test_every_pair_is_a_test_case(fused: Result) -> None:
    suite = fused.junit()
    assert suite.get("name") == "step3 rank1"
    assert int(suite.get("tests", 0)) == fused.pairing.count == len(suite)
    assert int(suite.get("failures", 0)) == len(suite.findall("testcase/failure")) > 0
    assert int(suite.get("skipped", 0)) == len(suite.findall("testcase/skipped"))


def test_a_failure_says_why(fused: Result) -> None:
    node = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"
    case = next(case for case in fused.junit() if case.get("name") == node)
    assert case.get("classname") == "0.decoder.layers.2.self_attention"
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "parameter"
    assert str(failure.text).startswith(f"{node}.parameters.bias: ")


def test_what_agrees_passes_and_what_cannot_be_compared_is_skipped(tmp_path: Path) -> None:
    fine = forward([tensor()], [tensor()])
    assert len(pair(tmp_path / "a", fine, fine).junit()[0]) == 0
    nothing = pair(tmp_path / "b", forward([], []), forward([], [])).junit()[0].find("skipped")
    assert nothing is not None and nothing.get("message") == "nothing to compare"


def test_a_warning_passes_and_is_told(tmp_path: Path) -> None:
    case = pair(tmp_path, forward([tensor(norm=1.00003)], []), forward([tensor()], [])).junit()[0]
    assert case.find("failure") is None
    told = case.find("system-out")
    assert told is not None and str(told.text).startswith("warning: ")


def test_any_character_in_a_name_leaves_the_file_well_formed(tmp_path: Path) -> None:
    name = 'Module.<a>&"\u0001\uffff.名.Linear.forward.0'
    case = pair(tmp_path, forward([tensor()], [tensor(9.0)]), forward([tensor()], [tensor()]), name=name).junit()[0]
    assert case.get("name") == 'Module.<a>&"\ufffd\ufffd.名.Linear.forward.0'


# ---- pairs ----


def test_every_pair_is_one_object_a_line(fused: Result) -> None:
    lines = fused.pairs()
    assert len(lines) == fused.pairing.count
    node = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"
    found = next(line for line in lines if line["target"] == [node])
    assert len(found["golden"]) == 3
    assert (found["relation"], found["status"]) == ("concat", "error")
    assert 0 < found["confidence"] <= 1
    assert "statistics" in found["reasons"]


# ---- tensor dumps, through the judge ----


def test_elements_that_differ_under_equal_statistics_are_told_as_elements(tmp_path: Path) -> None:
    target, golden = (graph(tmp_path / side, {LINEAR: forward([], [tensor()])}) for side in ("target", "golden"))
    result = Result(target, golden, "tensor")
    comparison = replace(result.comparison, metrics={"Relative Norm Err": np.array([0.9])}, mode="tensor")
    result.comparison, result.verdicts = comparison, judge(comparison, result.pairing, target, golden, load_policy("default"))
    row = result.csv()[0]
    assert row["Result"] == "error"
    assert row["Err_message"].startswith("elements differ: relative norm error 0.9, tolerance ")


def test_a_missing_file_leaves_the_statistics_to_judge_by_and_is_told(tmp_path: Path) -> None:
    target, golden = (graph(tmp_path / side, {LINEAR: forward([], [tensor()])}) for side in ("target", "golden"))
    result = Result(target, golden, "tensor")
    comparison = replace(result.comparison, mode="tensor", unavailable={0: ("golden: its file x.pt is missing", "标杆：文件 x.pt 不存在")})
    result.comparison, result.verdicts = comparison, judge(comparison, result.pairing, target, golden, load_policy("default"))
    row = result.csv()[0]
    assert row["Result"] == "pass"
    assert "its elements could not be measured: golden: its file x.pt is missing" in row["Err_message"]
