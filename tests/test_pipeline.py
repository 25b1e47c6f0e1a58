"""A whole conversion: the mode it compares in, and its ranks, which take no other along and do not depend on the number of jobs."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import DATA, RANKS, contents, convert, files_below, refused, strict_json
from small_dumps import LINEAR, NET, SAME, cut_off, entry, write_dump, write_ranks

from converter import pipeline
from converter.rank_task import convert_rank, write_rank


@pytest.fixture
def same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


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


# ---- ranks ----


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rank_that_fails_takes_no_other_along(tmp_path: Path, jobs: str) -> None:
    target, golden = write_ranks(tmp_path / "t", SAME), write_ranks(tmp_path / "g", SAME)
    cut_off(golden / "rank1/dump.json")
    run = convert("-tp", target, "-gp", golden, "-o", tmp_path / "out", "--jobs", jobs, "--report", tmp_path / "r.json")
    assert run.code == 0
    assert files_below(run.directory) == ["manifest.json", "step0", "step0/rank0.pb", "step0/rank2.pb"]
    assert "warning: step 0 rank 1 was left out: " in run.err and "rank1/dump.json, line 1, column" in run.err
    graphs = strict_json((tmp_path / "r.json").read_text())["graphs"]
    assert [graph["file"] is None for graph in graphs] == [False, True, False]
    assert "rank1/dump.json" in graphs[1]["error"]


def test_when_every_rank_fails_the_first_reason_is_told(tmp_path: Path) -> None:
    target = write_ranks(tmp_path / "t", SAME)
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
    run = convert("-tp", write_ranks(tmp_path / "t", SAME), "-o", tmp_path / "out", "--jobs", "1")
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
