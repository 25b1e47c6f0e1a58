"""--engine ray on a local cluster of two nodes: the same bytes as --engine local, and what a cluster can do wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import RANKS, ROOT, contents, convert, files_below, refused
from small_dumps import LINEAR, entry, tensor, write_dump

from converter.engine import run_on_ray

pytestmark = pytest.mark.ray
SAME = {LINEAR: entry([tensor()], [tensor()])}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two nodes of one processor each; RAY_ADDRESS names them."""
    from ray.cluster_utils import Cluster

    before = dict(os.environ)
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_DISABLE_IMPORT_WARNING="1", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",
                      PYTHONPATH=os.pathsep.join(filter(None, (str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH")))))
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        nodes.add_node(num_cpus=1)
        os.environ["RAY_ADDRESS"] = nodes.address
        yield
    finally:
        nodes.shutdown()
        os.environ.clear()
        os.environ.update(before)


def test_the_same_bytes_as_on_one_machine(cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dumps").symlink_to(RANKS)
    results = []
    for engine in ("local", "ray"):
        run = convert("-tp", "dumps/target", "-gp", "dumps/golden", "-o", "out", "--engine", engine, "--report", "report.json",
                      "--pairs", "pairs")
        assert run.code == 0, run
        (tmp_path / engine).mkdir()
        for name in ("out", "report.json", "pairs"):
            (tmp_path / name).rename(tmp_path / engine / name)
        results.append(contents(tmp_path / engine))
    assert len(results[0]) == 7
    assert results[0].keys() == results[1].keys()
    assert [name for name in results[0] if results[0][name] != results[1][name]] == []


def test_a_rank_that_fails_takes_no_other_along(cluster: None, tmp_path: Path) -> None:
    for rank in (0, 1):
        write_dump(str(tmp_path / f"d/rank{rank}"), SAME)
    (tmp_path / "d/rank1/dump.json").write_text("{")
    run = convert("-tp", tmp_path / "d", "-o", tmp_path / "out", "--engine", "ray")
    assert run.code == 0, run
    assert files_below(run.directory) == ["manifest.json", "step0", "step0/rank0.pb"]
    assert "step 0 rank 1 failed: " in run.err


def test_bad_input_leaves_nothing(cluster: None, tmp_path: Path) -> None:
    dump = write_dump(str(tmp_path / "d"), SAME)
    (tmp_path / "d/dump.json").write_text("{")
    assert "dump.json, line 1, column" in refused("-tp", dump, "-o", tmp_path / "out", "--engine", "ray")
    assert not (tmp_path / "out").exists()


def misbehave(task: int) -> Any:
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if task == 2:
        raise KeyError("missing")
    return task


def test_a_worker_that_dies_and_one_that_raises_lose_their_own_task(cluster: None) -> None:
    found = list(run_on_ray(misbehave, [0, 1, 2, 3], (), lambda task, why: (task, why)))
    assert [result for result in found if isinstance(result, int)] in ([0, 3], [3, 0])
    lost = dict(result for result in found if isinstance(result, tuple))
    assert lost.keys() == {1, 2}
    assert lost[2].startswith("KeyError: ")
    assert all("\n" not in why for why in lost.values())


def cannot_write(task: int) -> Any:
    raise OSError(28, "No space left on device", "/out/rank0.pb")


def test_a_result_that_cannot_be_written_concerns_all_ranks(cluster: None) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        list(run_on_ray(cannot_write, [0], (), lambda task, why: why))
