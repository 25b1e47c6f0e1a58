"""Where the tensor files of a dump lie now, and the sentence that says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.dumps.tensor_place import DumpGone, find_tensor_directory

BELOW = "dump_tensor_data"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Two ranks of step 0 and one of step 10, each with tensor files, and a single rank directory beside them."""
    for name in ("dump/step0/rank0", "dump/step0/rank1", "dump/step10/rank0", "one"):
        (tmp_path / name / BELOW).mkdir(parents=True)
        for file in ("dump.json", "construct.json"):
            (tmp_path / name / file).write_text("{}")
    return tmp_path / "dump"


@pytest.mark.parametrize(("step", "rank"), [(0, 0), (0, 1), (10, 0)])
def test_of_several_ranks_the_one_that_was_compared_is_taken(dump: Path, step: int, rank: int) -> None:
    assert Path(find_tensor_directory(str(dump), BELOW, step, rank)) == dump / f"step{step}" / f"rank{rank}" / BELOW


def test_a_single_rank_may_have_any_number(dump: Path) -> None:
    assert Path(find_tensor_directory(str(dump.parent / "one"), BELOW, 7, 3)) == dump.parent / "one" / BELOW


def test_relative_paths_are_looked_for_in_every_base_in_turn(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    bases = ["", str(dump), str(dump.parent)]
    assert Path(find_tensor_directory("dump", BELOW, 0, 1, bases)) == dump / "step0" / "rank1" / BELOW


@pytest.mark.parametrize(("path", "below", "step", "words"), [
    ("{dump}", BELOW, 3, "has no step 3, rank 0 any more"),
    ("{dump}/step9", BELOW, 0, "is not at {dump}/step9 any more"),
    ("{dump}", "", 0, "no tensor files, only statistics"),
    ("{dump}", "tensors", 0, "has no tensors any more"),
    ("s3://bucket/dump", BELOW, 0, "lies at s3://bucket/dump"),
    ("{dump}", "../../../one/" + BELOW, 0, "outside of the dump"),
    ("{dump}", "/etc", 0, "outside of the dump"),
    ("{dump}", "..\\one", 0, "outside of the dump"),
])
def test_what_is_missing_is_said_in_both_languages(dump: Path, path: str, below: str, step: int, words: str) -> None:
    with pytest.raises(DumpGone) as raised:
        find_tensor_directory(path.format(dump=dump), below, step, 0)
    assert words.format(dump=dump) in raised.value.en
    assert raised.value.zh and raised.value.zh != raised.value.en
