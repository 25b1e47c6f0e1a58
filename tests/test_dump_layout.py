"""Which rank directories a path holds, and which ones of the two sides belong together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from converter.dumps.layout import RankDirectory, find_ranks, natural_key, pair_ranks
from converter.errors import UserError

DATA = Path(__file__).parent / "data"


def make_rank(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "dump.json").write_text("{}")
    (folder / "construct.json").write_text("{}")
    return folder


def numbers(found: tuple[list[RankDirectory], list[str]]) -> list[tuple[int, int]]:
    return [(rank.step, rank.rank) for rank in found[0]]


def test_a_rank_directory_is_itself() -> None:
    path = str(DATA / "ms_cnn_mix_stat" / "golden" / "step0" / "rank0")
    assert find_ranks(path) == ([RankDirectory(0, 0, path)], [])


def test_steps_with_ranks_of_a_real_dump() -> None:
    ranks, warnings = find_ranks(str(DATA / "dist_tp2pp2" / "golden"))
    assert [(rank.step, rank.rank) for rank in ranks] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert ranks[2].path.endswith(os.path.join("step0", "rank2"))
    assert warnings == []


def test_two_steps_of_a_real_dump() -> None:
    assert numbers(find_ranks(str(DATA / "megatron_vs_hf" / "hf_2steps_2micro"))) == [(0, 0), (1, 0)]


def test_a_step_directory_holds_ranks_of_step_zero() -> None:
    assert numbers(find_ranks(str(DATA / "dist_tp2pp2" / "golden" / "step0"))) == [(0, 0), (0, 1), (0, 2), (0, 3)]


def test_ranks_and_steps_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for step in (0, 2, 10):
        for rank in (0, 9, 10, 100):
            make_rank(tmp_path / f"step{step}" / f"rank{rank}")
    assert numbers(find_ranks(str(tmp_path))) == [(step, rank) for step in (0, 2, 10) for rank in (0, 9, 10, 100)]


@pytest.mark.parametrize("name", ["rank", "proc3412"])
def test_single_card_directories_are_rank_zero(tmp_path: Path, name: str) -> None:
    make_rank(tmp_path / "step3" / name)
    assert numbers(find_ranks(str(tmp_path))) == [(3, 0)]
    assert numbers(find_ranks(str(tmp_path / "step3"))) == [(0, 0)]


def test_several_process_directories_cannot_be_told_apart(tmp_path: Path) -> None:
    make_rank(tmp_path / "proc1")
    make_rank(tmp_path / "proc2")
    with pytest.raises(UserError, match=r'2 process directories \("proc1", "proc2"\).*rename them to rank0'):
        find_ranks(str(tmp_path))


def test_a_step_directory_may_hold_the_files_itself(tmp_path: Path) -> None:
    make_rank(tmp_path / "step0")
    make_rank(tmp_path / "step1")
    assert numbers(find_ranks(str(tmp_path))) == [(0, 0), (1, 0)]


def test_foreign_files_beside_are_passed_over_with_a_warning(tmp_path: Path) -> None:
    make_rank(tmp_path / "step0" / "rank0")
    (tmp_path / "step0" / "run.log").write_text("")
    (tmp_path / "step0" / "rank_table.json").write_text("")
    (tmp_path / "README").write_text("")
    (tmp_path / ".hidden").write_text("")
    ranks, warnings = find_ranks(str(tmp_path))
    assert [(rank.step, rank.rank) for rank in ranks] == [(0, 0)]
    assert len(warnings) == 2
    assert '"README"' in warnings[0]
    assert '"rank_table.json", "run.log"' in warnings[1]


def test_foreign_files_in_a_rank_directory_do_not_matter(tmp_path: Path) -> None:
    folder = make_rank(tmp_path / "anything")
    (folder / "notes.txt").write_text("")
    (folder / "old").mkdir()
    assert numbers(find_ranks(str(folder))) == [(0, 0)]


def test_rank_directories_without_a_dump_are_passed_over_with_a_warning(tmp_path: Path) -> None:
    make_rank(tmp_path / "rank0")
    (tmp_path / "rank1").mkdir()
    ranks, warnings = find_ranks(str(tmp_path))
    assert [rank.rank for rank in ranks] == [0]
    assert warnings == [f"{tmp_path / 'rank1'} holds no dump.json and is passed over"]


def test_one_unfit_rank_of_many_does_not_hide_the_others(tmp_path: Path) -> None:
    make_rank(tmp_path / "rank0")
    (make_rank(tmp_path / "rank1") / "construct.json").unlink()
    assert numbers(find_ranks(str(tmp_path))) == [(0, 0), (0, 1)]


def test_links_are_followed(tmp_path: Path) -> None:
    make_rank(tmp_path / "elsewhere" / "files")
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "rank0").symlink_to(tmp_path / "elsewhere" / "files")
    assert numbers(find_ranks(str(tmp_path / "dump"))) == [(0, 0)]


def test_read_only_directories_are_read(tmp_path: Path) -> None:
    folder = make_rank(tmp_path / "rank0")
    folder.chmod(0o555)
    tmp_path.chmod(0o555)
    try:
        assert numbers(find_ranks(str(tmp_path))) == [(0, 0)]
    finally:
        tmp_path.chmod(0o755)
        folder.chmod(0o755)


def test_names_with_spaces_equal_signs_and_chinese_letters(tmp_path: Path) -> None:
    make_rank(tmp_path / "第 1 次=run" / "step0" / "rank0")
    assert numbers(find_ranks(str(tmp_path / "第 1 次=run"))) == [(0, 0)]


def test_two_directories_for_one_rank_are_refused(tmp_path: Path) -> None:
    make_rank(tmp_path / "rank")
    make_rank(tmp_path / "rank0")
    with pytest.raises(UserError, match="are both step 0, rank 0"):
        find_ranks(str(tmp_path))


@pytest.mark.parametrize(("make", "message"), [
    (lambda path: None, "is not there: check the path"),
    (lambda path: path.mkdir(), "is empty"),
    (lambda path: path.write_text("x"), "is a file: give the dump directory"),
    (lambda path: (path / "sub").mkdir(parents=True), 'holds no dump: .*found "sub"'),
    (lambda path: (path / "step0" / "other").mkdir(parents=True), "no step holds a rank directory"),
    (lambda path: (make_rank(path) / "dump.json").unlink(), "has no dump.json"),
    (lambda path: (make_rank(path) / "construct.json").unlink(), "has no construct.json.*level L0 or mix"),
])
def test_a_path_without_a_dump_is_one_clear_sentence(tmp_path: Path, make: object, message: str) -> None:
    path = tmp_path / "dump"
    make(path)  # type: ignore[operator]
    with pytest.raises(UserError, match=message) as error:
        find_ranks(str(path))
    assert str(path) in str(error.value)


def test_ranks_of_both_sides_pair_by_step_and_rank() -> None:
    target = [RankDirectory(0, 0, "a"), RankDirectory(0, 1, "b"), RankDirectory(1, 0, "c")]
    golden = [RankDirectory(0, 1, "d"), RankDirectory(1, 0, "e"), RankDirectory(2, 0, "f")]
    pairs, warnings = pair_ranks(target, golden)
    assert [(left.path, right.path) for left, right in pairs] == [("b", "d"), ("c", "e")]
    assert warnings == ["only the target side has step 0 rank 0: not compared", "only the golden side has step 2 rank 0: not compared"]


def test_a_single_rank_pairs_with_a_single_rank_whatever_their_numbers() -> None:
    pairs, warnings = pair_ranks([RankDirectory(5, 3, "a")], [RankDirectory(0, 0, "b")])
    assert [(left.path, right.path) for left, right in pairs] == [("a", "b")]
    assert warnings == []


def test_sides_without_a_common_rank_are_an_error() -> None:
    with pytest.raises(UserError, match="no step and rank in common: target has step 0 rank 0, step 0 rank 1; golden has"):
        pair_ranks([RankDirectory(0, 0, "a"), RankDirectory(0, 1, "b")], [RankDirectory(1, 0, "c"), RankDirectory(1, 1, "d")])


def test_natural_order() -> None:
    assert sorted(["rank10", "rank9", "rank", "rank1", "a2", "a10"], key=natural_key) == ["a2", "a10", "rank", "rank1", "rank9", "rank10"]
