"""What the plugin lists of a log directory: runs, graphs without a manifest, remote directories, and what is broken."""

from __future__ import annotations

import json
import os

import pytest
from log_directories import CREATED, graph_bytes, write_run
from plugin_server import Server, body, graph_query

from converter.graphfile import graph_pb2
from tb_graph_ascend.log_roots import log_roots
from tb_graph_ascend.runs import dump_names
from tb_graph_ascend.verdict_word import verdict_word


@pytest.fixture
def logs(tmp_path):
    write_run(str(tmp_path / "compare_1"), ((0, 0), (0, 1), (10, 0)))
    return tmp_path


# ---------------------------------------------------------------- what is found


def test_a_run_is_listed_with_its_graphs_in_order(logs):
    run, = Server(logs).runs()["runs"]
    assert (run["run"], run["kind"], run["created"], run["error"]) == ("compare_1", "compare", CREATED, None)
    assert [(graph["step"], graph["rank"], graph["file"]) for graph in run["graphs"]] == [
        (0, 0, "step0/rank0.pb"), (0, 1, "step0/rank1.pb"), (10, 0, "step10/rank0.pb")]
    assert all(graph["size"] == len(graph_bytes()) and int(graph["version"], 16) for graph in run["graphs"])


def test_every_graph_is_listed_with_one_word_for_what_it_holds(logs):
    write_run(str(logs / "build_1"), kind="build")
    build, compared = Server(logs).runs()["runs"]
    assert [graph["verdict"] for graph in compared["graphs"]] == ["introduced"] * 3  # graph_contents.py says so
    assert build["graphs"][0]["verdict"] == ""


def summary(**fields):
    made = graph_pb2.Summary()
    for name, value in fields.items():
        if name in ("forward", "backward"):
            getattr(made, name).kind = value
        elif name == "parameters":
            made.parameters.add().target = value
        else:
            setattr(made.status, name, value)
    return made


def test_the_word_is_the_cause_that_comes_first():
    assert verdict_word(summary(forward="parameter", backward="introduced", error=5)) == "parameter"
    assert verdict_word(summary(backward="gap", error=5)) == "introduced"
    assert verdict_word(summary(forward="nonfinite")) == "introduced"
    assert verdict_word(summary(parameters="weight", error=1)) == "parameter"
    assert verdict_word(summary(error=1, warning=2)) == "inherited"
    assert verdict_word(summary(warning=2)) == "warning"
    assert verdict_word(summary()) == ""


def test_what_only_a_policy_objects_to_is_a_warning():
    made = summary(error=5)
    made.causes.clean = 7
    assert verdict_word(made) == "warning"
    made.causes.inherited = 1
    assert verdict_word(made) == "inherited"


def test_runs_are_found_at_any_depth_and_listed_in_natural_order(tmp_path):
    for name in ("b/compare_10", "b/compare_9", "a/1/2/3/4/build_1"):
        write_run(str(tmp_path / name), kind="build" if "build" in name else "compare")
    assert Server(tmp_path).names() == ["a/1/2/3/4/build_1", "b/compare_9", "b/compare_10"]


def test_a_conversion_that_is_not_finished_is_not_listed(logs):
    write_run(str(logs / ".unfinished_compare_2"), manifest=False)
    assert Server(logs).names() == ["compare_1"]


def test_the_log_directory_may_itself_be_a_run(logs):
    assert Server(logs / "compare_1").names() == ["."]


def test_runs_with_the_same_last_name_do_not_clash(tmp_path):
    write_run(str(tmp_path / "a" / "compare_1"))
    write_run(str(tmp_path / "b" / "compare_1"), kind="build")
    assert [(run["run"], run["kind"]) for run in Server(tmp_path).runs()["runs"]] == [("a/compare_1", "compare"), ("b/compare_1", "build")]


def test_graph_files_without_a_manifest_are_listed(tmp_path):
    write_run(str(tmp_path / "copied"), ((2, 0), (2, 1)), manifest=False)
    (tmp_path / "mail.pb").write_bytes(graph_bytes("build"))
    lone, copied = sorted(Server(tmp_path).runs()["runs"], key=lambda run: len(run["graphs"]))
    assert (copied["run"], [(g["step"], g["rank"]) for g in copied["graphs"]]) == ("copied", [(2, 0), (2, 1)])
    assert (lone["run"], lone["kind"], lone["graphs"][0]["file"]) == ("mail.pb", "build", "mail.pb")
    assert (lone["graphs"][0]["step"], lone["graphs"][0]["rank"]) == (3, 1)  # as the file says


def test_foreign_files_of_the_same_names_are_no_runs(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x04")
    (tmp_path / "empty.pb").write_bytes(b"")
    (tmp_path / "dir.pb").mkdir()
    (tmp_path / "manifest.json").write_text('{"name": "a web app"}')
    answer = Server(tmp_path).runs()
    assert answer["runs"] == [] and answer["logdir_empty"] and not answer["scanning"] and answer["problems"] == []


def test_links_are_followed_and_loops_end(logs, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_run(str(elsewhere / "compare_2"))
    (logs / "linked").symlink_to(elsewhere)
    (logs / "loop").symlink_to(logs)
    (logs / "latest").symlink_to(logs / "compare_1")
    (logs / "broken").symlink_to(logs / "nowhere")
    assert Server(logs).names() == ["compare_1", "linked/compare_2"]


def test_without_a_log_directory_the_list_is_empty():
    answer = Server("").runs()
    assert answer["runs"] == [] and answer["logdir_empty"] and answer["problems"] == []


@pytest.mark.parametrize(("name", "code", "en", "zh"), [
    ("nowhere", "no_log_directory", "does not exist", "不存在"),
    ("file", "log_directory_is_file", "is a file, not a log directory", "是文件，不是日志目录"),
])
def test_a_log_directory_that_is_missing_or_a_file_is_told_from_an_empty_one(name, code, en, zh, tmp_path):
    (tmp_path / "file").write_bytes(graph_bytes())
    answer = Server(tmp_path / name).runs()
    problem, = answer["problems"]
    assert answer["logdir_empty"] and problem["code"] == code
    assert all(str(tmp_path / name) in problem[language] for language in ("en", "zh")) and en in problem["en"] and zh in problem["zh"]
    assert Server(tmp_path).runs()["problems"] == []


def test_of_several_log_directories_the_missing_one_is_named_and_the_others_are_listed(logs, tmp_path):
    server = Server(logdir_spec=f"one:{logs},two:{tmp_path / 'nowhere'}")
    answer = server.runs()
    assert [run["run"] for run in answer["runs"]] == ["one/compare_1"]
    assert [problem["code"] for problem in answer["problems"]] == ["no_log_directory"]
    (tmp_path / "nowhere").mkdir()
    server.plugin._finder.refresh(changed=True)
    assert server.runs()["problems"] == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="whoever may read everything is refused nothing")
def test_a_log_directory_that_may_not_be_listed_is_told_as_that(tmp_path):
    tmp_path.chmod(0)
    problem, = Server(tmp_path).runs()["problems"]
    tmp_path.chmod(0o700)
    assert problem["code"] == "log_directory"


def test_a_specification_prefixes_runs_with_its_names(logs, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write_run(str(other / "build_7"), kind="build")
    server = Server(logdir_spec=f"one:{logs},two:{other},{logs}")
    assert set(server.names()) == {f"{logs.name}/compare_1", "one/compare_1", "two/build_7"}
    assert server.request("/graph", query=graph_query("two/build_7")).status_code == 200


@pytest.mark.parametrize("spec, expected", [
    ("a:/x,b:/y", [("a/", "/x"), ("b/", "/y")]),
    ("/data/x:y", [("x:y/", "/data/x:y")]),
    ("s3://bucket/logs", [("logs/", "s3://bucket/logs")]),
    ("a:gs://bucket/logs", [("a/", "gs://bucket/logs")]),
    ("a:/x,a:/y", [("a/", "/x"), ("a_2/", "/y")]),
    (" , ", []),
])
def test_specifications_are_read_as_tensorboard_reads_them(spec, expected):
    assert [(root.prefix, root.path) for root in log_roots("", spec)] == expected


def test_a_new_run_is_found_by_its_name_without_a_restart(logs):
    server = Server(logs)
    assert server.names() == ["compare_1"]
    write_run(str(logs / "compare_2"))
    assert server.request("/graph", query=graph_query("compare_2")).status_code == 200


def test_read_only_files_of_others_are_served(logs):
    if os.geteuid() == 0:
        for folder, _, files in os.walk(logs):
            for file in files:
                os.chown(os.path.join(folder, file), 12345, 12345)
                os.chmod(os.path.join(folder, file), 0o444)
            os.chmod(folder, 0o555)
    server = Server(logs)
    assert server.names() == ["compare_1"]
    assert server.request("/section", query=graph_query(name="summary")).status_code == 200
    assert sorted(os.listdir(logs / "compare_1")) == ["manifest.json", "step0", "step10"]


def test_a_remote_log_directory_is_listed_and_served():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/bucket/logs/compare_1/step0/rank0.pb", graph_bytes())
    files.pipe_file("/bucket/logs/compare_1/manifest.json", json.dumps(
        {"format": 1, "kind": "compare", "graphs": [{"step": 0, "rank": 0, "file": "step0/rank0.pb"}]}).encode())
    files.pipe_file("/bucket/logs/deep/er/step1/rank2.pb", graph_bytes())
    server = Server("memory://bucket/logs")
    assert server.names() == ["compare_1", "deep/er"]
    assert server.request("/section", query=graph_query("deep/er", 1, 2, name="summary")).status_code == 200


def test_a_remote_log_directory_that_cannot_be_reached_is_a_problem_on_the_page():
    answer = Server("nosuchscheme://bucket/logs").runs()
    assert answer["runs"] == [] and "nosuchscheme" in answer["problems"][0]["en"]


# ---------------------------------------------------------------- broken things


def test_a_truncated_graph_is_listed_with_its_error_and_the_others_open(logs):
    path = logs / "compare_1" / "step0" / "rank0.pb"
    path.write_bytes(graph_bytes()[:-100])
    server = Server(logs)
    graphs = server.runs()["runs"][0]["graphs"]
    assert graphs[0]["error"]["code"] == "truncated" and graphs[0]["error"]["zh"] and "version" not in graphs[0]
    assert "error" not in graphs[1]
    answer = server.request("/graph", query=graph_query())
    assert answer.status_code == 404 and body(answer)["error"]["code"] == "truncated"
    assert server.request("/graph", query=graph_query(rank=1)).status_code == 200


def test_a_graph_that_the_manifest_names_and_nobody_wrote_is_listed_with_its_error(logs):
    (logs / "compare_1" / "step0" / "rank1.pb").unlink()
    assert Server(logs).runs()["runs"][0]["graphs"][1]["error"]["code"] == "unreadable"


@pytest.mark.parametrize("text, why", [
    ("{", "line 1"),
    ('{"format": 2, "graphs": []}', "format is 2"),
    ('{"format": 1, "graphs": [{"step": 0, "rank": 0, "file": "../../secret.pb"}]}', "leads out"),
    ('{"format": 1, "graphs": [{"step": 0, "rank": 0, "file": "/etc/secret.pb"}]}', "leads out"),
    ('{"format": 1, "graphs": [{"step": "0", "rank": 0, "file": "step0/rank0.pb"}]}', "no whole number"),
    ('{"format": 1, "graphs": [{"step": 0, "rank": 0}]}', 'no "file"'),
])
def test_a_manifest_that_cannot_be_used_is_said_so_and_its_graphs_are_found_anyway(logs, text, why):
    (logs / "compare_1" / "manifest.json").write_text(text)
    run, = Server(logs).runs()["runs"]
    assert why in run["error"]["en"] and run["error"]["zh"]
    assert len(run["graphs"]) == 3


def test_a_directory_that_may_not_be_listed_hides_nothing_else(logs, monkeypatch):
    (logs / "closed").mkdir()
    real = os.scandir

    def scandir(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert Server(logs).names() == ["compare_1"]


@pytest.mark.parametrize("target, golden, name", [
    ("/d/megatron_vs_hf/megatron_bug", "/d/megatron_vs_hf/hf", "megatron_vs_hf/megatron_bug ↔ hf"),
    ("npu/", "./gpu", "npu ↔ gpu"),
    ("a/dump/step0", "b/dump/step0", "dump/step0 ↔ step0"),
    ("a/x", "b/y", "a/x ↔ b/y"),
    ("D:\\runs\\npu", "D:\\runs\\gpu", "runs/npu ↔ gpu"),
    ("one", "", "one"),
    ("", "", ""),
])
def test_the_dumps_of_a_run_have_a_short_name(target: str, golden: str, name: str) -> None:
    assert dump_names(target, golden) == name


def test_a_directory_whose_name_is_no_utf8_can_be_opened_by_the_name_that_is_listed(logs):
    try:
        os.rename(logs / "compare_1", os.path.join(os.fsencode(logs), b"compare_caf\xe9"))
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    server = Server(logs)
    assert server.names() == ["compare_caf\\xe9"]
    assert server.request("/graph", query=graph_query("compare_caf\\xe9")).status_code == 200


def test_a_manifest_with_half_a_character_in_a_file_name_does_not_hide_other_runs(logs):
    write_run(str(logs / "compare_0"))
    write_run(str(logs / "compare_2"))
    (logs / "compare_0" / "manifest.json").write_text('{"format": 1, "graphs": [{"file": "\\ud800.pb", "step": 0, "rank": 0}]}')
    listed = Server(logs).runs()
    assert ([run["run"] for run in listed["runs"]], listed["problems"]) == (["compare_0", "compare_1", "compare_2"], [])


def test_named_pipes_do_not_stop_the_walk(logs):
    os.makedirs(logs / "compare_0" / "step0")
    for name in ("manifest.json", "step0/rank0.pb"):
        os.mkfifo(logs / "compare_0" / name)
    listed = Server(logs).runs()
    assert (listed["scanning"], [run["run"] for run in listed["runs"]]) == (False, ["compare_0", "compare_1"])
