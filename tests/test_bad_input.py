"""Input that is damaged or odd: refused with one sentence and nothing left behind, or converted with a warning that names it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Callable

import pytest
from command_line import convert, files_below, refused, strict_json
from small_dumps import LINEAR, NET, SAME, cut_off, entry, tensor, write_dump, write_ranks


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A small dump that a test may damage."""
    return Path(write_dump(str(tmp_path / "dump"), SAME))


# ---- bad input: one sentence, exit code 2, nothing written ----

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
    target = write_ranks(tmp_path / "t", SAME, 2)
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
