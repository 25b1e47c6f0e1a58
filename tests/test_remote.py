"""Dumps and results at addresses of fsspec: the same bytes as local ones, and clear words where an address leads nowhere."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import CNN, DATA, RANKS, contents, convert, refused, strict_json
from small_dumps import LINEAR, entry, tensor, write_dump

fsspec = pytest.importorskip("fsspec")

TENSOR = DATA / "megatron_vs_hf"


@pytest.fixture
def memory() -> Iterator[Any]:
    """fsspec's file system in this process's memory, empty."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pseudo_dirs[:] = [""]
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


@pytest.fixture
def same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def remote_contents(files: Any, place: str) -> dict[str, bytes]:
    return {name[len(place) + 1:]: files.cat_file(name) for name in files.find(place)}


def test_dumps_and_results_in_memory(memory: Any, tmp_path: Path, same_time: None) -> None:
    memory.put(str(CNN) + "/", "/dumps", recursive=True)
    run = convert("-tp", "memory://dumps/target", "-gp", "memory://dumps/golden", "-o", "memory://out", "--jobs", "1", "--report",
                  "memory://reports/report.json", "--csv", tmp_path / "table.csv")
    assert run.code == 0, run
    assert run.out == "memory://out/compare_20231114221320\n"
    assert sorted(remote_contents(memory, "/out")) == ["compare_20231114221320/manifest.json", "compare_20231114221320/step0/rank0.pb"]
    local = convert("-tp", CNN / "target", "-gp", CNN / "golden", "-o", tmp_path / "out", "--report", tmp_path / "report.json", "--csv",
                    tmp_path / "local.csv")
    assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "local.csv").read_bytes()
    report, other = (strict_json(text) for text in (memory.cat_file("/reports/report.json"), (tmp_path / "report.json").read_bytes()))
    assert report["graphs"] == other["graphs"]
    assert local.code == 0


def test_addresses_of_local_files_in_processes(tmp_path: Path, same_time: None) -> None:
    shape = "compare_20231114221320"
    run = convert("-tp", f"file://{RANKS}/target", "-gp", f"file://{RANKS}/golden", "-o", f"file://{tmp_path}/remote", "--jobs", "2")
    assert run.code == 0, run
    convert("-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", tmp_path / "local", "--jobs", "2")
    remote, local = contents(tmp_path / "remote"), contents(tmp_path / "local")
    assert sorted(remote) == sorted(local) == [f"{shape}/manifest.json", *(f"{shape}/step0/rank{rank}.pb" for rank in range(4))]
    assert remote[f"{shape}/manifest.json"] == local[f"{shape}/manifest.json"]


def test_one_side_may_be_local(memory: Any, tmp_path: Path) -> None:
    memory.put(str(CNN / "golden") + "/", "/golden", recursive=True)
    assert convert("-tp", CNN / "target", "-gp", "memory://golden", "-o", tmp_path, "--jobs", "1").code == 0


def test_tensor_files_come_along_with_a_tensor_dump(memory: Any, tmp_path: Path) -> None:
    for side in ("hf_tensor_layer2", "megatron_tensor_bug_qkv_bias_layer2"):
        memory.put(str(TENSOR / side) + "/", f"/{side}", recursive=True)
    run = convert("-tp", "memory://megatron_tensor_bug_qkv_bias_layer2", "-gp", "memory://hf_tensor_layer2", "-o", tmp_path / "out",
                  "--jobs", "1", "--csv", tmp_path / "remote.csv")
    convert("-tp", TENSOR / "megatron_tensor_bug_qkv_bias_layer2", "-gp", TENSOR / "hf_tensor_layer2", "-o", tmp_path / "out", "--csv",
            tmp_path / "local.csv")
    assert run.code == 0
    table = (tmp_path / "remote.csv").read_text(encoding="utf-8")
    assert table == (tmp_path / "local.csv").read_text(encoding="utf-8")
    assert len(table.splitlines()) > 5


def test_ranks_and_steps_are_found_at_an_address(memory: Any, tmp_path: Path) -> None:
    for step in (0, 1):
        for rank in (0, 1):
            folder = write_dump(str(tmp_path / f"d/step{step}/rank{rank}"), {LINEAR: entry([tensor()], [])})
            memory.put(folder + "/", f"/d/step{step}/rank{rank}", recursive=True)
    convert("-tp", "memory://d", "-o", tmp_path / "out", "--jobs", "1", "--report", tmp_path / "r.json")
    graphs = strict_json((tmp_path / "r.json").read_text())["graphs"]
    assert [(graph["step"], graph["rank"]) for graph in graphs] == [(0, 0), (0, 1), (1, 0), (1, 1)]


# ---- what goes wrong ----


def test_an_address_with_nothing_there(memory: Any, tmp_path: Path) -> None:
    assert refused("-tp", "memory://none", "-o", tmp_path / "out") == "memory://none is not there: give a dump directory"
    assert not (tmp_path / "out").exists()


def test_messages_name_the_address_not_the_copy(memory: Any, tmp_path: Path) -> None:
    folder = Path(write_dump(str(tmp_path / "d"), {LINEAR: entry([tensor()], [])}))
    (folder / "dump.json").write_text("{")
    memory.put(str(folder) + "/", "/d", recursive=True)
    assert refused("-tp", "memory://d", "-o", "memory://out", "--jobs", "1").startswith("memory://d/dump.json, line 1, column")
    assert memory.find("/out") == []


def test_an_unknown_kind_of_address(tmp_path: Path) -> None:
    assert refused("-tp", "nosuch://d", "-o", tmp_path / "out").startswith("nosuch://d: nosuch:// cannot be reached: ")


def test_without_fsspec_the_command_that_installs_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "fsspec":
            raise ImportError(name)
        return imported(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    assert refused("-tp", "s3://bucket/d", "-o", tmp_path / "out") == (
        's3://bucket/d: reading s3:// needs fsspec. Run: pip install "tb_graph_ascend[remote]"')


def test_results_that_other_processes_wrote_elsewhere_are_missed(memory: Any) -> None:
    """memory:// is another memory in each process."""
    assert "-o must be a place that all processes and machines share" in refused(
        "-tp", RANKS / "target", "-gp", RANKS / "golden", "-o", "memory://out", "--jobs", "2")


def test_a_place_that_cannot_be_written_to(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **more: Any) -> None:
        raise RuntimeError("access denied by policy")

    monkeypatch.setattr(type(memory), "open", refuse)
    assert refused("-tp", CNN / "target", "-o", "memory://out", "--jobs", "1").endswith("cannot be written: access denied by policy")
