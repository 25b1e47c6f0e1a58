"""Where results go: full disks, files in the way, links and devices, tables and timings, results that are there already."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest
from command_line import CNN, RANKS, convert, files_below, refused, start, strict_json
from small_dumps import SAME, write_dump


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A small dump that a test may damage."""
    return Path(write_dump(str(tmp_path / "dump"), SAME))


@pytest.fixture
def same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


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


def test_a_result_that_is_there_is_never_overwritten(tmp_path: Path, dump: Path, same_time: None) -> None:
    names = [convert("-tp", dump, "-o", tmp_path / "out").directory.name for _ in range(3)]
    assert names == ["build_20231114221320", "build_20231114221320_2", "build_20231114221320_3"]
