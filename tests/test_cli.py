"""graph-convert as its users type it: arguments, exit codes, what is said where."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from command_line import CNN, DATA, RANKS, convert, files_below, refused, start, strict_json
from small_dumps import LINEAR, NET, SAME, entry, tensor, write_dump

from converter.cli import options_of, parser, recorded


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Two small dumps that agree."""
    return write_dump(str(tmp_path / "target"), SAME), write_dump(str(tmp_path / "golden"), SAME)


def options(*words: str):
    return options_of(parser().parse_args(words), ["graph-convert"])[0]


# ---- what to compare ----


def test_two_dumps_become_one_directory_with_a_manifest(tmp_path: Path) -> None:
    run = convert("-tp", CNN / "target", "-gp", CNN / "golden", "-o", tmp_path / "out")
    assert run.code == 0
    assert run.directory.parent == tmp_path / "out"
    assert run.directory.name.startswith("compare_")
    assert files_below(run.directory) == ["manifest.json", "step0", "step0/rank0.pb"]


def test_one_dump_becomes_a_single_graph(tmp_path: Path) -> None:
    run = convert("-tp", CNN / "target", "-o", tmp_path)
    assert run.code == 0
    assert run.directory.name.startswith("build_")
    assert "single graph" in run.err


def test_without_o_the_result_is_below_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert convert("-tp", pair[0]).directory.parent == Path("output")


def test_relative_paths_are_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str]) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/compare.json").write_text('{"npu_path": "target", "bench_path": "./golden"}')
    monkeypatch.chdir(tmp_path)
    assert convert("-i", "elsewhere/compare.json", "-o", "out").code == 0


@pytest.mark.parametrize("name", ["with spaces", "a=b", "模型 转储", "-dash", "step0 (copy)", "percent%41#?&"])
def test_paths_of_any_letters(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    target, golden = write_dump(str(folder / "target"), SAME), write_dump(str(folder / "golden"), SAME)
    run = convert("-tp", target, "-gp", golden, "-o", folder / "out", "--report", folder / "报告.json")
    assert run.code == 0
    assert strict_json((folder / "报告.json").read_text(encoding="utf-8"))["graphs"][0]["status"]["pass"] == 1


def test_paths_that_are_no_utf8(tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    dump = write_dump(os.fsdecode(folder), SAME)
    report = tmp_path / "report.json"
    run = convert("-tp", dump, "-gp", dump, "-o", os.path.join(os.fsdecode(folder), "out"), "--report", report)
    assert run.code == 0
    assert strict_json(report.read_text(encoding="utf-8"))["command"][2].endswith("caf\ufffd")


def test_framework_is_accepted(tmp_path: Path, pair: tuple[str, str]) -> None:
    assert convert("-f", "pytorch", "-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out").code == 0


def test_no_dump_named() -> None:
    assert refused() == "no dump is named: use -i compare.json, or -tp TARGET [-gp GOLDEN]"


def test_only_golden_named(pair: tuple[str, str]) -> None:
    assert refused("-gp", pair[1]).startswith("no dump is named")


def test_dumps_named_twice(pair: tuple[str, str]) -> None:
    assert refused("-i", "compare.json", "-tp", pair[0]) == "-i and -tp/-gp both name the dumps: use one of the two"


@pytest.mark.parametrize("option", ["--rank_size", "--tp", "--pp", "--vpp", "--order"])
def test_merging_of_parallel_ranks_is_refused_not_ignored(option: str, pair: tuple[str, str]) -> None:
    assert f"{option}: merging parallel ranks is not built yet" in refused("-tp", pair[0], option, "2")


@pytest.mark.parametrize("words", [["--unknown"], ["-f", "tensorflow"], ["--match", "x"], ["--jobs", "0"], ["--jobs", "many"],
                                   ["--fail-on", "never"], ["--engine", "spark"], ["-o"], ["--rep", "x"]])
def test_wrong_usage_is_exit_code_2(words: list[str]) -> None:
    run = convert(*words)
    assert run.code == 2
    assert "Traceback" not in run.err
    assert run.err.splitlines()[-1].startswith("graph-convert: error: ")


def test_a_number_of_jobs_below_one_is_named() -> None:
    assert "--jobs: expected at least 1, found 0" in convert("--jobs", "0").err
    assert "--jobs: expected a number, found 'x'" in convert("--jobs", "x").err


def test_help_is_exit_code_0_and_names_the_exit_codes() -> None:
    run = convert("--help")
    assert run.code == 0
    assert "0 done; 1 the level of --fail-on was reached; 2 bad input or usage; 3 nothing could be compared" in run.out


# ---- what the options mean ----


def test_matching_is_chosen_as_the_peer_has_it() -> None:
    assert options("-tp", "d").match == "auto"
    assert options("-tp", "d", "-lm").match == "mapping"
    assert (options("-tp", "d", "-lm", "m.yaml").match, options("-tp", "d", "-lm", "m.yaml").mapping) == ("auto", "m.yaml")
    assert options("-tp", "d", "-fm").match == "fuzzy"
    assert options("-tp", "d", "-fm", "-lm", "m.yaml").match == "auto"
    assert options("-tp", "d", "-fm", "-lm").match == "mapping"
    assert options("-tp", "d", "-fm", "--match", "exact").match == "exact"


def test_exact_matching_has_no_use_for_a_mapping_file(pair: tuple[str, str]) -> None:
    assert refused("-tp", pair[0], "-gp", pair[1], "--match", "exact", "-lm", "m.yaml").startswith("--match exact uses no mapping file")


def test_options_of_the_peer_are_accepted_under_both_their_names() -> None:
    long = options("--target_path", "a", "--golden_path", "b", "--output_path", "c", "--layer_mapping", "d", "--overflow_check",
                   "--fuzzy_match", "--is_print_compare_log", "--is_print_progress_log", "--framework", "mindspore")
    short = options("-tp", "a", "-gp", "b", "-o", "c", "-lm", "d", "-oc", "-fm", "-tensor_log", "-progress_log", "-f", "mindspore")
    assert long == short
    assert (long.target, long.golden, long.output, long.mapping, long.overflow_check) == ("a", "b", "c", "d", True)


def test_how_a_conversion_is_run_is_not_recorded() -> None:
    assert recorded(["-tp", "a", "--jobs", "2", "--engine=ray", "-o", "b"]) == ["-tp", "a", "-o", "b"]


def test_overflow_check_is_in_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    nan = write_dump(str(tmp_path / "nan"), {LINEAR: entry([tensor()], [tensor(*[float("nan")] * 4)])})
    run = convert("-tp", nan, "-oc", "-o", tmp_path / "out", "--report", report)
    assert run.code == 0
    assert strict_json(report.read_text())["graphs"][0]["overflow"]["target"]["first_nonfinite"]["node"] == LINEAR
    assert f"the first NaN is in output 0 of {LINEAR}" in run.err and "target: overflow check: 1 " in run.err


def test_overflow_check_that_found_nothing_says_so(tmp_path: Path, pair: tuple[str, str]) -> None:
    assert "overflow check: nothing found" in convert("-tp", pair[1], "-oc", "-o", tmp_path / "out").err
    assert "overflow check" not in convert("-tp", pair[1], "-o", tmp_path / "out").err


def test_policy_msprobe_is_in_force(tmp_path: Path, pair: tuple[str, str]) -> None:
    report = tmp_path / "report.json"
    convert("-tp", pair[0], "-gp", pair[1], "--policy", "msprobe", "-o", tmp_path / "out", "--report", report)
    assert strict_json(report.read_text())["graphs"][0]["policy"] == "msprobe"


def test_manual_matches_are_in_force(tmp_path: Path) -> None:
    other = LINEAR.replace("fc", "dense")
    target = write_dump(str(tmp_path / "target"), SAME)
    golden = write_dump(str(tmp_path / "golden"), {other: SAME[LINEAR]})
    (tmp_path / "m.yaml").write_text(f"matches:\n- {{target: {LINEAR}, golden: {other}}}\n")
    convert("-tp", target, "-gp", golden, "--match", "exact", "--matches", tmp_path / "m.yaml", "-o", tmp_path / "out", "--report",
            tmp_path / "report.json")
    assert strict_json((tmp_path / "report.json").read_text())["graphs"][0]["pairs"]["manual"] == 1


def test_the_mapping_in_a_matches_file_is_in_force_unless_another_one_is_given(tmp_path: Path) -> None:
    other = LINEAR.replace("fc", "dense")
    target = write_dump(str(tmp_path / "target"), SAME)
    golden = write_dump(str(tmp_path / "golden"), {other: SAME[LINEAR]})
    (tmp_path / "m.yaml").write_text("mapping:\n  name: mine.yaml\n  text: |\n    TopLayer:\n      net.fc: net.dense\n")
    (tmp_path / "other.yaml").write_text("TopLayer:\n  net.fc: []\n")

    def mapped(*options: object) -> int:
        convert("-tp", target, "-gp", golden, *options, "-o", tmp_path / "out", "--report", tmp_path / "report.json")
        return int(strict_json((tmp_path / "report.json").read_text())["graphs"][0]["pairs"]["mapping"])

    assert mapped("--matches", tmp_path / "m.yaml") == 1
    assert mapped("--matches", tmp_path / "m.yaml", "-lm", tmp_path / "other.yaml") == 0
    assert "uses no layer mapping" in refused("-tp", target, "-gp", golden, "--match", "exact", "--matches", tmp_path / "m.yaml", "-o",
                                              tmp_path / "out")
    (tmp_path / "m.yaml").write_text("mapping: {name: mine.yaml, text: 'TopLayer: ['}\n")
    assert "mine.yaml" in refused("-tp", target, "-gp", golden, "--matches", tmp_path / "m.yaml", "-o", tmp_path / "out")


# ---- exit codes ----


def test_fail_on_error(tmp_path: Path, pair: tuple[str, str]) -> None:
    wrong = write_dump(str(tmp_path / "wrong"), {LINEAR: entry([tensor()], [tensor(norm=9.0)])})
    assert convert("-tp", wrong, "-gp", pair[1], "-o", tmp_path / "out").code == 0
    assert convert("-tp", wrong, "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "error").code == 1
    assert convert("-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "error").code == 0


def test_fail_on_warning(tmp_path: Path, pair: tuple[str, str]) -> None:
    near = write_dump(str(tmp_path / "near"), {LINEAR: entry([tensor(norm=4.00012)], [tensor()])})
    assert convert("-tp", near, "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "error").code == 0
    assert convert("-tp", near, "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "warning").code == 1


def test_fail_on_unmatched(tmp_path: Path, pair: tuple[str, str]) -> None:
    more = write_dump(str(tmp_path / "more"), {**SAME, "Module.net.act.GELU.forward.0": entry([tensor()], [tensor()])})
    assert convert("-tp", more, "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "warning").code == 0
    assert convert("-tp", more, "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "unmatched").code == 1
    assert convert("-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out", "--fail-on", "unmatched").code == 0


def test_a_rank_that_failed_counts_for_fail_on(tmp_path: Path, pair: tuple[str, str]) -> None:
    for side in ("t", "g"):
        for rank in (0, 1):
            write_dump(str(tmp_path / side / f"rank{rank}"), SAME)
    (tmp_path / "t/rank1/dump.json").write_text("{")
    assert convert("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "out", "--fail-on", "error").code == 1


def test_nothing_paired_is_exit_code_3(tmp_path: Path, pair: tuple[str, str]) -> None:
    other = write_dump(str(tmp_path / "other"), {"Functional.relu.0.forward": entry([tensor()], [])}, {"Functional.relu.0.forward": None})
    run = convert("-tp", other, "-gp", pair[1], "--match", "exact", "-o", tmp_path / "out")
    assert run.code == 3
    assert run.directory.is_dir()
    assert "No node of target was paired with one of golden" in run.err


def test_a_warning_of_several_ranks_is_one_line_that_names_the_first(tmp_path: Path) -> None:
    checksums = entry([{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 4], "md5": "5eb63bbb"}], [])
    for rank in (0, 1):
        write_dump(str(tmp_path / "t" / f"rank{rank}"), {LINEAR: checksums})
        write_dump(str(tmp_path / "g" / f"rank{rank}"), {LINEAR: entry([tensor()], [])})
    run = convert("-tp", tmp_path / "t", "-gp", tmp_path / "g", "-o", tmp_path / "out")
    lines = [line for line in run.err.splitlines() if "summary mode" in line]
    assert len(lines) == 1 and lines[0].startswith("warning: step 0 rank 0 and 1 more: target has summary mode md5")


def test_pairs_without_anything_to_compare_are_exit_code_3(tmp_path: Path) -> None:
    checksums = write_dump(str(tmp_path / "md5"), {LINEAR: entry([{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 4],
                                                                   "md5": "5eb63bbb"}], [])})
    plain = write_dump(str(tmp_path / "plain"), {LINEAR: entry([tensor()], [])})
    run = convert("-tp", checksums, "-gp", plain, "-o", tmp_path / "out")
    assert run.code == 3
    assert "target has summary mode md5, golden statistics: compared by what both have" in run.err
    assert "Nothing could be judged" in run.err


def test_structures_alone_are_paired_and_done(tmp_path: Path) -> None:
    folder = DATA / "qwen2_24l_mix_struct"
    run = convert("-tp", folder / "target", "-gp", folder / "golden", "-o", tmp_path, "--report", tmp_path / "report.json")
    assert run.code == 0
    entry = strict_json((tmp_path / "report.json").read_text())["graphs"][0]
    assert entry["mode"] == "structure"
    assert entry["pairs"]["total"] == entry["target"]["nodes"] > 5000


# ---- what is said ----


def test_the_last_line_of_the_summary_is_the_first_divergence_in_words(tmp_path: Path) -> None:
    run = convert("-tp", DATA / "megatron_vs_hf/megatron_bug_qkv_bias", "-gp", DATA / "megatron_vs_hf/hf", "-o", tmp_path)
    assert run.err.splitlines()[-1].startswith(
        "First divergence: forward first differs at Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0: "
        "its bias differs")


def test_agreement_is_said(tmp_path: Path, pair: tuple[str, str]) -> None:
    run = convert("-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out")
    assert run.err.splitlines()[-1] == "The two runs agree wherever they could be compared."


def test_the_result_is_the_only_line_on_standard_output(tmp_path: Path, pair: tuple[str, str]) -> None:
    run = convert("-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out")
    assert run.out == f"{run.directory}\n"
    assert run.directory.is_dir()


def test_progress_lines_as_the_peer_writes_them(tmp_path: Path, pair: tuple[str, str]) -> None:
    run = convert("-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out", "-progress_log", "--jobs", "1")
    lines = [strict_json(line[len("PROGRESS: "):]) for line in run.out.splitlines() if line.startswith("PROGRESS: ")]
    shown = [line["current_progress"] for line in lines]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, 100)
    assert [line["process_running"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert {line["error_msg"] for line in lines} == {""}


def test_progress_of_several_ranks_ends_at_100(tmp_path: Path) -> None:
    run = convert("-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", tmp_path / "out", "-progress_log", "--jobs", "2")
    shown = [strict_json(line[len("PROGRESS: "):])["current_progress"] for line in run.out.splitlines() if line.startswith("PROGRESS: ")]
    assert shown == [25, 50, 75, 100, 100]


@pytest.mark.parametrize("words", [["-tp", "nowhere"], ["-i", "nowhere.json"], []])
def test_progress_ends_with_the_error(words: list[str]) -> None:
    run = convert(*words, "-progress_log")
    last = strict_json(run.out.splitlines()[-1][len("PROGRESS: "):])
    assert run.code == 2
    assert last["process_running"] is False
    assert last["error_msg"] in run.err


def test_without_a_terminal_a_line_for_each_rank(tmp_path: Path) -> None:
    run = convert("-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", tmp_path / "out", "--jobs", "1")
    assert run.err.splitlines()[:4] == [f"step 0 rank {rank} done" for rank in range(4)]


def test_whoever_closes_the_output_early_sees_no_traceback(tmp_path: Path, pair: tuple[str, str]) -> None:
    process = start("-tp", pair[0], "-gp", pair[1], "-o", tmp_path / "out", "-progress_log")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert "Traceback" not in said and "Exception" not in said


def test_warnings_of_compare_json_are_told(tmp_path: Path, pair: tuple[str, str]) -> None:
    (tmp_path / "c.json").write_text(f'{{"npu_path": "{pair[0]}", "unknown": 1}}')
    assert "warning: " in convert("-i", tmp_path / "c.json", "-o", tmp_path / "out").err


def test_levels_that_differ_are_told(tmp_path: Path) -> None:
    target = write_dump(str(tmp_path / "L0"), SAME, level="L0")
    golden = write_dump(str(tmp_path / "mix"), SAME, level="mix")
    run = convert("-tp", target, "-gp", golden, "-o", tmp_path / "out")
    assert "target was dumped at level L0, golden at level mix: calls of one side only stay unmatched" in run.err


def test_a_mapping_that_names_nothing_of_the_dumps_is_refused(tmp_path: Path, pair: tuple[str, str]) -> None:
    (tmp_path / "m.yaml").write_text("Nett:\n  fc: dense\n")
    assert "m.yaml, line 1" in refused("-tp", pair[0], "-gp", pair[1], "-lm", tmp_path / "m.yaml", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["Net: [", "just text", "- a\n- b\n"])
def test_a_mapping_that_is_none_is_refused(tmp_path: Path, pair: tuple[str, str], text: str) -> None:
    (tmp_path / "m.yaml").write_text(text)
    assert "m.yaml" in refused("-tp", pair[0], "-gp", pair[1], "-lm", tmp_path / "m.yaml", "-o", tmp_path / "out")


@pytest.mark.parametrize("option", ["-lm", "--matches", "--policy"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, pair: tuple[str, str], option: str) -> None:
    assert "none.yaml" in refused("-tp", pair[0], "-gp", pair[1], option, tmp_path / "none.yaml", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nodes_of_the_report_add_up(tmp_path: Path) -> None:
    """The small helper dumps really hold what the tests above rely on."""
    dump = write_dump(str(tmp_path / "d"), SAME)
    convert("-tp", dump, "-o", tmp_path / "out", "--report", tmp_path / "r.json")
    assert strict_json((tmp_path / "r.json").read_text())["graphs"][0]["target"] == {"nodes": 2, "modules": 2, "apis": 0}
    assert NET.endswith("forward.0")


def test_without_ray_the_command_that_installs_it_is_told(tmp_path: Path, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert refused("-tp", pair[0], "-o", tmp_path / "out", "--engine", "ray") == (
        '--engine ray needs Ray: run pip install "tb_graph_ascend[ray]"')
    assert not (tmp_path / "out").exists()


def test_an_output_directory_without_a_name(pair: tuple[str, str]) -> None:
    assert refused("-tp", pair[0], "-o", "") == "-o names no directory: leave it out for the directory output"


def test_a_current_directory_that_is_gone(tmp_path: Path, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert refused("-tp", pair[0], "-o", "out") == "the current directory: No such file or directory"
