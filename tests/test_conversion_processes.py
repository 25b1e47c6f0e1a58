"""Processes of a conversion: killed, interrupted, or two at once, they lose no other work and leave nothing behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any, Callable

import pytest
from command_line import DATA, RANKS, files_below, start

from converter.engine import run_in_processes


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
