"""compare.json: what it may say, and what is said about it where it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from converter.compare_json import read_compare_file
from converter.errors import UserError


def write(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "compare.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def problem(path: str) -> str:
    with pytest.raises(UserError) as caught:
        read_compare_file(path)
    assert str(caught.value).startswith(path)
    return str(caught.value)[len(path):]


def test_both_sides_as_written(tmp_path: Path) -> None:
    found = read_compare_file(write(tmp_path, {"npu_path": "../npu dump", "bench_path": "bench=1", "is_print_compare_log": True}))
    assert (found.target, found.golden, found.warnings) == ("../npu dump", "bench=1", [])


@pytest.mark.parametrize("more", [{}, {"bench_path": None}, {"bench_path": ""}, {"bench_path": " "}])
def test_without_bench_path_there_is_no_golden_side(tmp_path: Path, more: dict[str, Any]) -> None:
    assert read_compare_file(write(tmp_path, {"npu_path": "npu", **more})).golden == ""


def test_a_byte_order_mark_and_chinese_letters(tmp_path: Path) -> None:
    found = read_compare_file(write(tmp_path, '\ufeff{"npu_path": "转储/一"}'))
    assert found.target == "转储/一"


def test_a_key_that_nobody_knows_is_a_warning(tmp_path: Path) -> None:
    found = read_compare_file(write(tmp_path, {"npu_path": "a", "bench": "b"}))
    assert "unknown key 'bench' is passed over; known: npu_path, bench_path, is_print_compare_log, parallel_merge" in found.warnings[0]


@pytest.mark.parametrize("nothing", [None, {}])
def test_an_empty_parallel_merge_is_none(tmp_path: Path, nothing: Any) -> None:
    assert read_compare_file(write(tmp_path, {"npu_path": "a", "parallel_merge": nothing})).target == "a"


def test_parallel_merge_is_refused_not_ignored(tmp_path: Path) -> None:
    assert "key parallel_merge: merging parallel ranks is not built yet" in problem(
        write(tmp_path, {"npu_path": "a", "parallel_merge": {"npu": {"rank_size": 8}}}))


@pytest.mark.parametrize(("content", "message"), [
    ([], ': expected an object like {"npu_path": "…", "bench_path": "…"}, found a list'),
    ("3", ': expected an object like {"npu_path": "…", "bench_path": "…"}, found a number'),
    ({}, ": the key npu_path is missing: it names the dump to debug"),
    ({"npu_path": None}, ", key npu_path: expected a path as text, found null"),
    ({"npu_path": 3}, ", key npu_path: expected a path as text, found a number"),
    ({"npu_path": ["a"]}, ", key npu_path: expected a path as text, found a list"),
    ({"npu_path": "  "}, ", key npu_path: the path is empty"),
    ({"npu_path": "a", "bench_path": {}}, ", key bench_path: expected a path as text, found an object"),
    ({"npu_path": "a", "bench_path": True}, ", key bench_path: expected a path as text, found true or false"),
    ({"npu_path": "a", "is_print_compare_log": "yes"}, ", key is_print_compare_log: expected true or false, found a text"),
    ({"npu_path": "a\0b"}, ", key npu_path: 'a\\x00b' holds a character that no path can hold"),
    ({"npu_path": "\ud800"}, ", key npu_path: '\\ud800' holds a character that no path can hold"),
    ("", ", line 1, column 1: not valid JSON: Expecting value"),
    ('{"npu_path": "a",\n}', ", line 2, column 1: not valid JSON: Expecting property name enclosed in double quotes"),
    ("[" * 100_000, ": nested too deeply for a file of four keys"),
])
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, content: Any, message: str) -> None:
    assert problem(write(tmp_path, content)).startswith(message)


def test_an_integer_of_too_many_digits(tmp_path: Path) -> None:
    assert ": not valid JSON: Exceeds the limit" in problem(write(tmp_path, '{"npu_path": ' + "9" * 5000 + "}"))


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "compare.json"
    path.write_bytes('{"npu_path": "储"}'.encode("gbk"))
    assert problem(str(path)) == " is not UTF-8 text (byte 14): save it as UTF-8"


def test_a_file_that_is_not_there_and_a_directory(tmp_path: Path) -> None:
    assert problem(str(tmp_path / "none.json")) == " cannot be read: No such file or directory"
    assert problem(str(tmp_path)) == " cannot be read: Is a directory"
