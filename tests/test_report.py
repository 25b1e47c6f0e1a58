"""--report and --pairs: contracts that scripts rely on; and the summary on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import CNN, DATA, RANKS, convert, strict_json
from small_dumps import LINEAR, NET, entry, tensor, write_dump

from converter.report import finite_or_text, summary_lines, whole_report
from converter.version import TOOL

MEGATRON = DATA / "megatron_vs_hf"
BIAS = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"


def reported(folder: Path, *arguments: object) -> dict[str, Any]:
    path = folder / "report.json"
    assert convert(*arguments, "-o", folder / "out", "--report", path).code in (0, 3)
    return strict_json(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bias(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Report and pairs of the real pair with a wrong bias."""
    folder = tmp_path_factory.mktemp("bias")
    report = reported(folder, "-tp", MEGATRON / "megatron_bug_qkv_bias", "-gp", MEGATRON / "hf", "--pairs", folder / "pairs")
    return report, [strict_json(line) for line in (folder / "pairs").read_text(encoding="utf-8").splitlines()]


# ---- the keys that scripts rely on ----


def test_the_report_has_the_keys_of_the_contract(bias: Any) -> None:
    report = bias[0]
    assert report["format"] == 1
    assert report["tool"] == TOOL
    assert report["command"][0] == "graph-convert"
    graph = report["graphs"][0]
    assert graph.keys() >= {"step", "rank", "file", "target", "golden", "pairs", "unmatched", "status", "first_divergence", "warnings"}
    assert graph["target"].keys() == graph["golden"].keys() == {"nodes", "modules", "apis"}
    assert graph["pairs"].keys() == {"total", "exact", "mapping", "normalised", "fuzzy", "structural", "manual"}
    assert graph["unmatched"].keys() == {"target", "golden", "target_api_calls", "golden_api_calls"}
    assert graph["status"].keys() == {"pass", "warning", "error", "not_comparable"}
    assert graph["first_divergence"].keys() == {"forward", "backward", "parameters"}
    assert isinstance(graph["warnings"], list)


def test_the_file_is_named_from_the_output_directory(tmp_path: Path) -> None:
    report = reported(tmp_path, "-tp", CNN / "target", "-gp", CNN / "golden")
    assert (tmp_path / "out" / report["graphs"][0]["file"]).is_file()


def test_a_first_divergence_says_where_what_and_after_which_node(bias: Any) -> None:
    found = bias[0]["graphs"][0]["first_divergence"]
    forward = found["forward"]
    assert forward.keys() >= {"target", "golden", "kind", "error", "reason", "after"}
    assert (forward["target"], forward["kind"]) == (BIAS, "parameter")
    assert forward["golden"] == [f"Module.model.layers.2.self_attn.{part}_proj.Linear.forward.0" for part in "qkv"]
    assert forward["error"] == pytest.approx(0.5, rel=1e-4)
    assert forward["after"].startswith("Module.0.decoder.layers.2.input_layernorm")
    assert [parameter["target"] for parameter in found["parameters"]] == [f"{BIAS}.parameters.bias"]
    assert found["parameters"][0].keys() == {"target", "golden", "error"}


def test_the_overall_divergence_names_step_rank_and_direction(bias: Any) -> None:
    overall = bias[0]["overall"]
    assert (overall["step"], overall["rank"], overall["direction"], overall["target"]) == (0, 0, "forward", BIAS)


def test_pairs_and_statuses_add_up(bias: Any) -> None:
    report, lines = bias
    graph = report["graphs"][0]
    assert graph["pairs"]["total"] == sum(value for name, value in graph["pairs"].items() if name != "total") == len(lines)
    assert sum(graph["status"].values()) == len(lines)
    for status, number in graph["status"].items():
        assert sum(line["status"] == status for line in lines) == number
    for side in ("target", "golden"):
        named = sum(len(line[side]) for line in lines)
        assert named + graph["unmatched"][side] == graph[side]["nodes"]


def test_every_pair_is_one_json_object_a_line(bias: Any) -> None:
    line = next(line for line in bias[1] if line["target"] == [BIAS])
    assert line.keys() >= {"target", "golden", "relation", "how", "confidence", "status", "reasons"}
    assert len(line["golden"]) == 3
    assert (line["relation"], line["status"]) == ("concat", "error")
    assert "statistics" in line["reasons"]


def test_where_the_runs_agree_there_is_no_divergence(tmp_path: Path) -> None:
    graph = reported(tmp_path, "-tp", MEGATRON / "megatron", "-gp", MEGATRON / "hf")["graphs"][0]
    assert graph["first_divergence"] == {"forward": None, "backward": None, "parameters": []}
    assert (graph["status"]["error"], graph["status"]["warning"]) == (0, 0)


def test_non_finite_errors_are_texts_because_json_has_no_such_numbers(tmp_path: Path) -> None:
    target = write_dump(str(tmp_path / "t"), {LINEAR: entry([tensor()], [tensor(*[float("nan")] * 4)])})
    golden = write_dump(str(tmp_path / "g"), {LINEAR: entry([tensor()], [tensor()])})
    forward = reported(tmp_path, "-tp", target, "-gp", golden)["graphs"][0]["first_divergence"]["forward"]
    assert forward["kind"] == "nonfinite"
    assert isinstance(forward["error"], (str, float))
    assert [finite_or_text(value) for value in (0.5, float("nan"), float("inf"), -float("inf"))] == [0.5, "NaN", "Infinity", "-Infinity"]


def test_a_single_graph_has_counts_only(tmp_path: Path) -> None:
    report = reported(tmp_path, "-tp", CNN / "target")
    graph = report["graphs"][0]
    assert graph.keys() == {"step", "rank", "file", "mode", "target", "warnings"}
    assert graph["mode"] == "build"
    assert report["overall"] is None


def test_every_step_and_rank_is_an_entry_in_order(tmp_path: Path) -> None:
    report = reported(tmp_path, "-tp", RANKS / "target", "-gp", RANKS / "golden", "--jobs", "2")
    assert [(graph["step"], graph["rank"]) for graph in report["graphs"]] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert report["overall"]["target"] == "Module.layers.2.mlp.dense_4h_to_h.RowParallelLinear.forward.0"


def test_names_of_any_script_are_written_as_they_are(tmp_path: Path) -> None:
    name = "Module.网络.\u202e‏רשת.Linear.forward.0"
    dump = write_dump(str(tmp_path / "d"), {name: entry([tensor()], [tensor(norm=9.0)])})
    other = write_dump(str(tmp_path / "o"), {name: entry([tensor()], [tensor()])})
    reported(tmp_path, "-tp", dump, "-gp", other, "--pairs", tmp_path / "pairs")
    assert name in (tmp_path / "pairs").read_text(encoding="utf-8")
    assert name in (tmp_path / "report.json").read_text(encoding="utf-8")


def test_swapped_sides_swap_the_answer(tmp_path: Path, bias: Any) -> None:
    swapped = reported(tmp_path, "-tp", MEGATRON / "hf", "-gp", MEGATRON / "megatron_bug_qkv_bias")["graphs"][0]
    straight = bias[0]["graphs"][0]
    assert swapped["pairs"]["total"] == straight["pairs"]["total"]
    assert (swapped["target"], swapped["golden"]) == (straight["golden"], straight["target"])
    assert swapped["status"] == straight["status"]
    assert BIAS in swapped["first_divergence"]["forward"]["golden"]


# ---- on the terminal ----


def entry_of(rank: int, **more: Any) -> dict[str, Any]:
    return {"step": 0, "rank": rank, "file": "f", "mode": "statistics", "target": {"nodes": 3}, "golden": {"nodes": 3},
            "pairs": {"total": 3}, "unmatched": {"target": 0, "golden": 0, "target_api_calls": 0, "golden_api_calls": 0},
            "status": {"pass": 3, "warning": 0, "error": 0, "not_comparable": 0},
            "causes": {"clean": 0, "parameter": 0, "introduced": 0, "inherited": 0},
            "first_divergence": {"forward": None, "backward": None, "parameters": []}, "warnings": [], **more}


def lines_of(*entries: dict[str, Any]) -> list[str]:
    return summary_lines(whole_report(TOOL, [], entries))


def test_of_many_ranks_the_first_ten_are_shown_and_the_others_counted() -> None:
    lines = lines_of(*(entry_of(rank) for rank in range(12)))
    assert sum(line.startswith("step 0 rank ") for line in lines) == 10
    assert "… and 2 more graphs" in lines


def test_of_many_warnings_five_are_shown_and_the_others_counted() -> None:
    lines = lines_of(entry_of(0, warnings=[f"w{number}" for number in range(9)]))
    assert [line for line in lines if line.startswith("warning: ")] == [f"warning: w{number}" for number in range(5)]
    assert "… and 4 more warnings (--report lists them all)" in lines


def test_the_earliest_step_and_the_lowest_rank_is_the_first_divergence() -> None:
    found = {"target": NET, "golden": [NET], "kind": "gap", "error": 1.0, "reason": "why", "after": None, "micro_step": 0}
    entries = [entry_of(rank, first_divergence={"forward": found if rank else None, "backward": None, "parameters": []})
               for rank in (2, 1, 0)]
    assert whole_report(TOOL, [], entries)["overall"]["rank"] == 1
    assert lines_of(*entries)[-1] == f"First divergence: step 0 rank 1: forward first differs inside {NET}: why."


def test_differences_without_a_beginning_are_said_to_come_from_elsewhere() -> None:
    status = {"pass": 1, "warning": 0, "error": 2, "not_comparable": 0}
    assert lines_of(entry_of(0, status=status))[-1].startswith("No first divergence of its own was found")


def test_differences_that_only_a_policy_objects_to_are_told_as_that() -> None:
    status = {"pass": 1, "warning": 0, "error": 2, "not_comparable": 0}
    agreeing = {"clean": 3, "parameter": 0, "introduced": 0, "inherited": 0}
    *counts, conclusion = lines_of(entry_of(0, status=status, causes=agreeing))
    assert "2 differ (by rules of the policy only)" in counts[0] and conclusion.startswith("No divergence was found")
    carried = lines_of(entry_of(0, status=status, causes={**agreeing, "inherited": 1}))
    assert "policy" not in carried[0] and carried[-1].startswith("No first divergence of its own was found")


def test_a_rank_that_failed_is_told_with_its_reason() -> None:
    lines = lines_of(entry_of(0), {"step": 0, "rank": 1, "file": None, "error": "dump.json is empty", "warnings": []})
    assert "step 0 rank 1: failed: dump.json is empty" in lines
    assert lines[-1] == "The two runs agree wherever they could be compared."
