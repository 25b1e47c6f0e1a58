"""A whole conversion: which bad input is refused and how, what is written and what never stays behind, processes and signals."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from command_line import CNN, DATA, RANKS, contents, convert, files_below, refused, start, strict_json
from small_dumps import LINEAR, NET, entry, tensor, write_dump

from converter import pipeline
from converter.engine import run_in_processes
from converter.rank_task import convert_rank, write_rank

SAME = {LINEAR: entry([tensor()], [tensor()])}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A small dump that a test may damage."""
    return Path(write_dump(str(tmp_path / "dump"), SAME))


@pytest.fixture
def same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def ranks(folder: Path, count: int = 3) -> Path:
    for rank in range(count):
        write_dump(str(folder / f"rank{rank}"), SAME)
    return folder


# ---- bad input: one sentence, exit code 2, nothing written ----


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


BAD: list[tuple[str, Callable[[Path], Any], str]] = [
    ("dump.json cut off", lambda d: cut_off(d / "dump.json"), "dump.json, line 1, column "),
    ("construct.json cut off", lambda d: cut_off(d / "construct.json"), "construct.json, line 1, column "),
    ("stack.json cut off", lambda d: (d / "stack.json").write_text("{"), "stack.json, line 1, column "),
    ("construct.json {}", lambda d: (d / "construct.json").write_text("{}"), "dump again with level L0 or mix"),
    ("construct.json of no bytes", lambda d: (d / "construct.json").write_text(""), "construct.json is empty"),
    ("dump.json no JSON", lambda d: (d / "dump.json").write_text("hello"), "dump.json, line 1, column 1: not valid JSON"),
    ("dump.json no UTF-8", lambda d: (d / "dump.json").write_bytes(b'{"\xff"'), "dump.json, line 1, column 3: not UTF-8"),
    ("dump.json a list", lambda d: (d / "dump.json").write_text("[]"), "must hold a JSON object with the key data, but holds a list"),
    ("data a list", lambda d: (d / "dump.json").write_text('{"data": []}'), "key data: must be an object"),
    ("construct.json missing", lambda d: (d / "construct.json").unlink(), "has no construct.json"),
    ("dump.json missing", lambda d: (d / "dump.json").unlink(), "has no dump.json"),
    ("dump.json a directory", lambda d: ((d / "dump.json").unlink(), (d / "dump.json").mkdir()), "dump.json"),
    ("dump.json a pipe", lambda d: ((d / "dump.json").unlink(), os.mkfifo(d / "dump.json")), "dump.json"),
    ("construct.json a pipe", lambda d: ((d / "construct.json").unlink(), os.mkfifo(d / "construct.json")), "construct.json"),
    ("stack.json a pipe", lambda d: ((d / "stack.json").unlink(), os.mkfifo(d / "stack.json")), "stack.json"),
    ("a link in a circle", lambda d: ((d / "dump.json").unlink(), (d / "dump.json").symlink_to("dump.json")), "dump.json"),
    ("a link to nowhere", lambda d: ((d / "dump.json").unlink(), (d / "dump.json").symlink_to("none")), "dump.json"),
    ("an empty directory", lambda d: (shutil.rmtree(d), d.mkdir()), "is empty"),
    ("no directory", shutil.rmtree, "is not there"),
    ("a file", lambda d: (shutil.rmtree(d), d.write_text("")), "is a file"),
]


@pytest.mark.parametrize(("damage", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
@pytest.mark.parametrize("side", ["-tp", "-gp"])
def test_bad_input_is_one_sentence_and_leaves_nothing(tmp_path: Path, dump: Path, damage: Any, message: str, side: str) -> None:
    good = write_dump(str(tmp_path / "good"), SAME)
    damage(dump)
    said = refused(side, dump, "-gp" if side == "-tp" else "-tp", good, "-o", tmp_path / "out", "--report", tmp_path / "report.json",
                   "--csv", tmp_path / "table.csv")
    assert message in said
    assert str(dump) in said
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "report.json").exists() and not (tmp_path / "table.csv").exists()


def test_what_was_in_the_output_directory_stays(tmp_path: Path, dump: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    cut_off(dump / "dump.json")
    refused("-tp", dump, "-o", tmp_path / "out")
    assert files_below(tmp_path / "out") == ["mine.txt"]


def test_folders_made_for_the_output_go_again(tmp_path: Path, dump: Path) -> None:
    cut_off(dump / "dump.json")
    refused("-tp", dump, "-o", tmp_path / "a/b/c")
    assert not (tmp_path / "a").exists()


def test_sides_without_a_common_rank(tmp_path: Path) -> None:
    target = ranks(tmp_path / "t", 2)
    golden = tmp_path / "g"
    for rank in (5, 6):
        write_dump(str(golden / f"rank{rank}"), SAME)
    assert refused("-tp", target, "-gp", golden, "-o", tmp_path / "out").startswith("the two sides have no step and rank in common")


# ---- what can be read is converted, with a warning that names what is odd ----


def warnings_of(folder: Path, *arguments: object) -> tuple[int, dict[str, Any]]:
    run = convert(*arguments, "-o", folder / "out", "--report", folder / "report.json")
    assert run.code == 0, run
    graph = strict_json((folder / "report.json").read_text(encoding="utf-8"))["graphs"][0]
    return graph["target"]["nodes"], graph["warnings"]


def test_empty_data_is_a_warning(tmp_path: Path, dump: Path) -> None:
    (dump / "dump.json").write_text('{"task": "statistics", "level": "mix", "data": {}}')
    nodes, warnings = warnings_of(tmp_path, "-tp", dump)
    assert nodes == 2
    assert any("data is empty" in text for text in warnings)


def test_malformed_entries_lose_their_data_only(tmp_path: Path) -> None:
    dump = write_dump(str(tmp_path / "d"), {**SAME, "Module.net.a.A.forward.0": None, "Module.net.b.B.forward.0": [1]})
    nodes, warnings = warnings_of(tmp_path, "-tp", dump)
    assert nodes == 4
    assert any("Module.net.a.A.forward.0" in text for text in warnings)


def test_nodes_in_a_circle_stay_and_are_named(tmp_path: Path) -> None:
    dump = write_dump(str(tmp_path / "d"), SAME, {NET: LINEAR, LINEAR: NET, "Module.other.O.forward.0": None})
    nodes, warnings = warnings_of(tmp_path, "-tp", dump)
    assert nodes >= 3
    assert any(NET in text or LINEAR in text for text in warnings)


def test_1200_levels_are_no_matter(tmp_path: Path) -> None:
    names = [f"Module.{'.'.join('m' * depth)}.M.forward.0" for depth in range(1, 1201)]
    dump = write_dump(str(tmp_path / "d"), {}, dict(zip(names, [None, *names])))
    assert warnings_of(tmp_path, "-tp", dump)[0] == 1200


def test_a_missing_stack_file_is_a_warning(tmp_path: Path, dump: Path) -> None:
    (dump / "stack.json").unlink()
    assert any("stack.json is not there" in text for text in warnings_of(tmp_path, "-tp", dump)[1])


@pytest.mark.parametrize("name", ["x" * 300, "a\nb", "\u202eabc", "名", "", " ", "\0", "..", "../../etc", "<b>", "a.b.c", "%s{}", "\ud800"])
def test_weird_node_names(tmp_path: Path, name: str) -> None:
    data = {LINEAR: entry([tensor()], [tensor()]), name: entry([tensor()], [tensor(norm=9.0)])}
    dump = write_dump(str(tmp_path / "d"), data, dict.fromkeys(data))
    run = convert("-tp", dump, "-gp", dump, "-o", tmp_path / "out", "--report", tmp_path / "r", "--pairs", tmp_path / "p", "--csv",
                  tmp_path / "c", "--junit", tmp_path / "j", "-oc")
    assert run.code == 0, run
    assert files_below(run.directory) == ["manifest.json", "step0", "step0/rank0.pb"]


# ---- modes ----


def mode_of(folder: Path, target: dict[str, Any], golden: dict[str, Any], /, **heads: dict[str, Any]) -> tuple[str, dict[str, int]]:
    paths = [write_dump(str(folder / side), data, **heads.get(side, {})) for side, data in (("target", target), ("golden", golden))]
    convert("-tp", paths[0], "-gp", paths[1], "-o", folder / "out", "--report", folder / "report.json")
    graph = strict_json((folder / "report.json").read_text())["graphs"][0]
    return graph["mode"], graph["status"]


def checksum(md5: str) -> dict[str, Any]:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 4], "md5": md5}


def test_checksums_on_both_sides_are_compared(tmp_path: Path) -> None:
    target, golden = ({LINEAR: entry([checksum("aa")], [checksum(output)])} for output in ("bb", "cc"))
    mode, status = mode_of(tmp_path, target, golden)
    assert mode == "checksum"
    assert status["error"] + status["warning"] == 1


def test_structure_on_one_side_compares_structure(tmp_path: Path) -> None:
    mode, status = mode_of(tmp_path, SAME, {}, golden={"task": "structure", "construct": {NET: None, LINEAR: NET}})
    assert mode == "structure"
    assert (status["pass"], status["warning"], status["error"]) == (0, 0, 0)


def test_a_side_without_data_compares_structure(tmp_path: Path) -> None:
    mode, status = mode_of(tmp_path, SAME, {}, golden={"construct": {NET: None, LINEAR: NET}})
    assert mode == "structure"
    assert (status["pass"], status["warning"], status["error"]) == (0, 0, 0)


def test_tensors_on_one_side_only_are_compared_by_statistics(tmp_path: Path) -> None:
    mode, status = mode_of(tmp_path, SAME, SAME, target={"task": "tensor"})
    assert (mode, status["pass"]) == ("statistics", 1)


# ---- reading only: whoever owns it ----


@pytest.fixture
def stranger() -> Iterator[Path]:
    """A directory that everybody can reach, in a test that has no special rights."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    convert("-tp", CNN / "target", "-gp", CNN / "golden", "-o", folder / "warm")  # imports need rights that may be lost below
    shutil.rmtree(folder / "warm")
    root = os.geteuid() == 0
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for place, names, _ in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(place, name), 0o755)
        shutil.rmtree(folder)


def become_stranger() -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)


def lock(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_dumps_of_others_that_nobody_may_write_to_are_read(stranger: Path) -> None:
    shutil.copytree(CNN, stranger / "dumps")
    lock(stranger / "dumps")
    (stranger / "out").mkdir()
    (stranger / "out").chmod(0o777)
    become_stranger()
    run = convert("-tp", stranger / "dumps/target", "-gp", stranger / "dumps/golden", "-o", stranger / "out")
    assert run.code == 0, run
    shutil.rmtree(run.directory)


def test_an_output_directory_that_cannot_be_written_to(stranger: Path) -> None:
    write_dump(str(stranger / "dump"), SAME)
    (stranger / "out").mkdir()
    lock(stranger / "out")
    become_stranger()
    said = refused("-tp", stranger / "dump", "-o", stranger / "out")
    assert str(stranger / "out") in said and said.endswith("cannot be written: Permission denied")
    assert files_below(stranger / "out") == []


def test_an_output_directory_that_cannot_be_made(stranger: Path) -> None:
    write_dump(str(stranger / "dump"), SAME)
    become_stranger()
    assert refused("-tp", stranger / "dump", "-o", stranger / "new") == (
        f"the output directory {stranger}/new cannot be made: Permission denied: choose another one with -o")


def test_a_dump_that_may_not_be_read(stranger: Path) -> None:
    dump = Path(write_dump(str(stranger / "dump"), SAME))
    (dump / "dump.json").chmod(0o000)
    (stranger / "out").mkdir()
    (stranger / "out").chmod(0o777)
    become_stranger()
    assert refused("-tp", dump, "-o", stranger / "out") == f"{dump}/dump.json cannot be read: Permission denied"


# ---- where results go ----


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, jobs: str) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))  # bytes; as good as a full disk
    try:
        said = refused("-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", tmp_path / "out", "--jobs", jobs)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert said.endswith("cannot be written: File too large")
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_an_output_directory_that_is_a_file(tmp_path: Path, dump: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    assert f"the output directory {tmp_path}/{place} cannot be made" in refused("-tp", dump, "-o", tmp_path / place)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("option", ["--report", "--pairs", "--csv", "--junit", "--timings"])
def test_a_report_that_is_a_directory_is_refused_before_the_work(tmp_path: Path, dump: Path, option: str) -> None:
    assert refused("-tp", dump, option, tmp_path, "-o", tmp_path / "out") == f"{option} {tmp_path} is a directory: name a file in it"
    assert not (tmp_path / "out").exists()


def test_a_report_below_a_file_is_refused_before_the_work(tmp_path: Path, dump: Path) -> None:
    (tmp_path / "file").write_text("mine")
    said = refused("-tp", dump, "--csv", tmp_path / "file/x.csv", "-o", tmp_path / "out")
    assert said == f"--csv {tmp_path}/file/x.csv cannot be written: {tmp_path}/file is a file"


def test_two_results_in_one_file_are_refused(tmp_path: Path, dump: Path) -> None:
    said = refused("-tp", dump, "--csv", tmp_path / "x", "--report", tmp_path / "." / "x", "-o", tmp_path / "out")
    assert said == f"--report and --csv both name {tmp_path}/x: give each a file of its own"


def test_reports_make_their_folders_and_replace_what_a_link_points_to(tmp_path: Path, dump: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    reports = "--report", tmp_path / "link.json", "--csv", tmp_path / "new/folder/t.csv"
    assert convert("-tp", dump, "-o", tmp_path / "out", *reports).code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert strict_json((tmp_path / "real.json").read_text())["format"] == 1
    assert (tmp_path / "new/folder/t.csv").is_file()


def test_a_report_to_a_device_or_a_pipe_is_written_through(dump: Path, tmp_path: Path) -> None:
    process = start("-tp", dump, "-o", tmp_path / "out", "--report", "/dev/stdout", "--csv", "/dev/null")
    out, err = process.communicate()
    assert process.returncode == 0, err
    report, _, _ = out.rpartition("}\n")
    assert strict_json(report + "}")["format"] == 1
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_tables_of_a_single_graph_have_no_rows(tmp_path: Path, dump: Path) -> None:
    tables = "--pairs", tmp_path / "p", "--csv", tmp_path / "c", "--junit", tmp_path / "j"
    assert convert("-tp", dump, "-o", tmp_path / "out", *tables).code == 0
    assert (tmp_path / "p").read_bytes() == b""
    assert len((tmp_path / "c").read_text().splitlines()) == 1
    assert "<testcase" not in (tmp_path / "j").read_text()


def test_timings_name_every_stage(tmp_path: Path) -> None:
    convert("-tp", CNN / "target", "-gp", CNN / "golden", "-o", tmp_path / "out", "--timings", tmp_path / "t.json")
    timings = strict_json((tmp_path / "t.json").read_text())
    assert timings.keys() == {"read", "match", "compare", "judge", "write"}
    assert all(0 < seconds < 60 for seconds in timings.values())


# ---- ranks ----


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rank_that_fails_takes_no_other_along(tmp_path: Path, jobs: str) -> None:
    target, golden = ranks(tmp_path / "t"), ranks(tmp_path / "g")
    cut_off(golden / "rank1/dump.json")
    run = convert("-tp", target, "-gp", golden, "-o", tmp_path / "out", "--jobs", jobs, "--report", tmp_path / "r.json")
    assert run.code == 0
    assert files_below(run.directory) == ["manifest.json", "step0", "step0/rank0.pb", "step0/rank2.pb"]
    assert "warning: step 0 rank 1 was left out: " in run.err and "rank1/dump.json, line 1, column" in run.err
    graphs = strict_json((tmp_path / "r.json").read_text())["graphs"]
    assert [graph["file"] is None for graph in graphs] == [False, True, False]
    assert "rank1/dump.json" in graphs[1]["error"]


def test_when_every_rank_fails_the_first_reason_is_told(tmp_path: Path) -> None:
    target = ranks(tmp_path / "t")
    for rank in range(3):
        cut_off(target / f"rank{rank}/dump.json")
    said = refused("-tp", target, "-o", tmp_path / "out", "--jobs", "1")
    assert said.startswith("none of the 3 ranks could be converted; the first: ") and "rank0/dump.json" in said
    assert not (tmp_path / "out").exists()


def faulty_convert(task: Any, progress: Any) -> Any:
    return {}["key"] if task.rank == 1 else convert_rank(task, progress)


def faulty_write(data: Any, write: Any) -> int:
    return {}["key"] if data.content.rank == 1 else write_rank(data, write)


@pytest.mark.parametrize(("name", "fault"), [("convert_rank", faulty_convert), ("write_rank", faulty_write)])
def test_a_fault_of_ours_is_one_sentence_with_its_place_and_loses_one_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str,
                                                                           fault: Any) -> None:
    monkeypatch.setattr(pipeline, name, fault)
    run = convert("-tp", ranks(tmp_path / "t"), "-o", tmp_path / "out", "--jobs", "1")
    assert run.code == 0
    assert "a fault of graph-convert, please report it (KeyError: 'key'; tests/test_pipeline.py, line " in run.err
    assert "Traceback" not in run.err


def test_more_jobs_give_the_same_bytes(tmp_path: Path, same_time: None) -> None:
    outputs = []
    for jobs in ("1", "2"):
        folder = tmp_path / jobs
        arguments = [word for name in ("report", "pairs", "csv", "junit") for word in (f"--{name}", tmp_path / name)]
        assert convert("-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", tmp_path / "out", "--jobs", jobs, *arguments).code == 0
        folder.mkdir()
        for name in ("report", "pairs", "csv", "junit", "out"):
            shutil.move(str(tmp_path / name), folder / name)
        outputs.append(contents(folder))
    assert outputs[0].keys() == outputs[1].keys()
    assert [name for name in outputs[0] if outputs[0][name] != outputs[1][name]] == []


def shuffled(value: Any, generator: random.Random, depth: int = 0) -> Any:
    """The same JSON with the keys of every entry in another order; the order of the entries is the order of the calls."""
    if isinstance(value, list):
        return [shuffled(item, generator, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    if depth > 1:
        generator.shuffle(keys)
    return {key: shuffled(value[key], generator, depth + 1) for key in keys}


def test_the_order_of_keys_inside_entries_does_not_matter(tmp_path: Path) -> None:
    source = DATA / "megatron_vs_hf/megatron_bug_gate_up"
    shutil.copytree(source, tmp_path / "shuffled")
    path = tmp_path / "shuffled/step0/rank0/dump.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(shuffled(document, random.Random(7))))
    graphs = []
    for target in (source, tmp_path / "shuffled"):
        convert("-tp", target, "-gp", DATA / "megatron_vs_hf/hf", "-o", tmp_path / "out", "--report", tmp_path / "r.json")
        graphs.append({**strict_json((tmp_path / "r.json").read_text())["graphs"][0], "file": ""})
    assert graphs[0] == graphs[1]
    assert graphs[0]["first_divergence"]["forward"] is not None


# ---- processes and signals ----


def three_times(task: int) -> int:
    return 3 * task


def kill_own_process(task: int) -> int:
    if task == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return 3 * task


def test_results_of_processes_come_as_they_finish() -> None:
    assert sorted(run_in_processes(three_times, list(range(9)), (), 2, lambda task, why: -1)) == [3 * task for task in range(9)]


def test_a_killed_process_loses_its_own_task_only() -> None:
    found = list(run_in_processes(kill_own_process, list(range(6)), (), 2, lambda task, why: (task, why)))
    assert sorted(result for result in found if isinstance(result, int)) == [0, 3, 9, 12, 15]
    lost = next(result for result in found if isinstance(result, tuple))
    assert lost[0] == 2
    assert "ended from outside, probably because memory ran out" in lost[1]


@pytest.fixture(scope="module")
def long_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve ranks of a 24-layer model on each side: work for many seconds."""
    folder = tmp_path_factory.mktemp("long")
    for side in ("target", "golden"):
        (folder / side).mkdir()
        for rank in range(12):
            (folder / side / f"rank{rank}").symlink_to(DATA / "qwen2_24l_mix_stat" / side / "step0/rank0")
    return folder


def processes_about(text: str) -> list[int]:
    """Numbers of the processes whose command line holds a text."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and text.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def wait_for(condition: Callable[[], Any], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "jobs"), [(signal.SIGINT, "2"), (signal.SIGTERM, "1"), (signal.SIGHUP, "2")])
def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path, long_work: Path, number: int, jobs: str) -> None:
    out = tmp_path / "out"
    process = start("-tp", long_work / "target", "-gp", long_work / "golden", "-o", out, "--jobs", jobs, "--report", tmp_path / "r.json")
    wait_for(lambda: out.exists() and any(out.rglob("*.pb")))
    assert len(processes_about(str(out))) == (1 if jobs == "1" else 3)
    process.send_signal(number)
    begin = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - begin < 10
    assert err.splitlines()[-1] == "graph-convert: interrupted; nothing was written"
    assert "Traceback" not in err
    assert files_below(tmp_path) == []
    assert processes_about(str(out)) == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="counts processes in /proc")
def test_workers_end_with_a_conversion_that_was_killed(tmp_path: Path, long_work: Path) -> None:
    out = tmp_path / "out"
    process = start("-tp", long_work / "target", "-gp", long_work / "golden", "-o", out, "--jobs", "2")
    wait_for(lambda: len(processes_about(str(out))) == 3)
    process.kill()
    process.communicate()
    wait_for(lambda: not processes_about(str(out)))


def test_two_conversions_at_once_into_one_directory(tmp_path: Path) -> None:
    processes = [start("-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", tmp_path, SOURCE_DATE_EPOCH="1700000000") for _ in range(2)]
    said = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    directories = sorted(out.splitlines()[-1] for out, _ in said)
    assert directories == [f"{tmp_path}/compare_20231114221320", f"{tmp_path}/compare_20231114221320_2"]
    assert [len(list(Path(directory).rglob("*.pb"))) for directory in directories] == [4, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(Path(directory).name for directory in directories)


def test_a_result_that_is_there_is_never_overwritten(tmp_path: Path, dump: Path, same_time: None) -> None:
    names = [convert("-tp", dump, "-o", tmp_path / "out").directory.name for _ in range(3)]
    assert names == ["build_20231114221320", "build_20231114221320_2", "build_20231114221320_3"]
