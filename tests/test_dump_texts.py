"""What the reader makes of the texts of the three files: depth, size, what is wrong with them; parents and stacks."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from converter.dumps import pieces
from converter.dumps.reader import read_dump
from converter.errors import UserError
from tests.dump_files import leaf_of, refuse_reference, rows_of, tensor, write_dump, write_entry, write_output, write_texts

NODE = "Functional.f.0.forward"


@pytest.fixture
def no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it an error when the fast reader hands over to the reference reader."""
    refuse_reference(monkeypatch)


# ---------------------------------------------------------------- texts, depth, size


def test_byte_order_marks_are_passed_over(tmp_path: Path) -> None:
    write_entry(tmp_path, {"output": [tensor()]})
    for name in ("dump.json", "construct.json", "stack.json"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (tmp_path / name).read_bytes())
    dump = read_dump(tmp_path)
    assert (dump.names, dump.leaves.rows, dump.warnings) == ([NODE], 1, [])


def test_half_surrogates_become_the_replacement_character(tmp_path: Path) -> None:
    assert leaf_of(tmp_path, {"type": "str", "value": "a\ud800b"})["value"] == "a\ufffdb"
    assert leaf_of(tmp_path, {"type": "str", "value": "\U0001f600"})["value"] == "\U0001f600"
    assert leaf_of(tmp_path, {"type": "str", "value": "\\ud800"})["value"] == "\\ud800"


def test_values_nested_two_thousand_levels_deep(tmp_path: Path) -> None:
    [row] = rows_of(read_dump(write_output(tmp_path, "[" * 2000 + json.dumps(tensor()) + "]" * 2000)))
    assert row["name"] == ".".join(["0"] * 2001)


def test_values_nested_beyond_reason_are_one_clear_sentence(tmp_path: Path) -> None:
    folder = write_output(tmp_path, "[" * 200_000 + "]" * 200_000)
    with pytest.raises(UserError, match=r"dump\.json: values are nested deeper than 10,000 levels"):
        read_dump(folder)


def test_an_entry_larger_than_a_piece(tmp_path: Path, no_fallback: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_SIZE", 1000)
    data = {f"Functional.f.{i}.forward": {"input_args": [tensor() for _ in range(1 + 200 * (i == 1))]} for i in range(3)}
    assert np_lengths(read_dump(write_dump(tmp_path, data))) == [1, 201, 1]


def np_lengths(dump: Any) -> list[int]:
    ends = dump.row_end.tolist()
    return [end - begin for begin, end in zip([0, *ends], ends)]


@pytest.mark.parametrize("strange", [None, {"type": "x", "unknown": 1}, [[tensor()]], math.nan])
def test_dumps_written_without_indentation(tmp_path: Path, strange: Any, no_fallback: None) -> None:
    data = {f"值.f.{i}.forward": {"input_args": [tensor(math.inf)] * (i - 1) + [strange] * min(i, 1)} for i in range(4)}
    assert np_lengths(read_dump(write_dump(tmp_path, data, indent=None))) == [0, 1, 2, 3]


def test_keys_behind_data_are_read(tmp_path: Path, no_fallback: None) -> None:
    text = json.dumps({"data": {"A.f.0.forward": {"output": [tensor()]}}, "task": "tensor"}, indent=1)
    dump = read_dump(write_texts(tmp_path, text))
    assert (dump.leaves.rows, dump.task) == (1, "tensor")


# ---------------------------------------------------------------- what is wrong


def test_entries_that_are_no_objects_lose_their_data_only(tmp_path: Path, no_fallback: None) -> None:
    data = {"a": {"output": [tensor()]}, "b": None, "c": [1], "d": "text", "e": {"output": [tensor()]}}
    dump = read_dump(write_dump(tmp_path, data))
    assert dump.names == ["a", "b", "c", "d", "e"]
    assert dump.has_data.tolist() == [True, False, False, False, True]
    assert dump.warnings == ['dump.json: the entry is no object, so the node keeps no data: "b", "c", "d"']


def test_unknown_keys_of_entries_are_named_once(tmp_path: Path) -> None:
    data = {"a": {"output": [tensor()]}, "b": {"extra": 1, "output": []}, "c": {"extra": [tensor()]}}
    assert read_dump(write_dump(tmp_path, data)).warnings == ['dump.json: unknown keys of entries are passed over: "extra", first at b']


def test_repeated_nodes_are_named_and_the_last_one_counts(tmp_path: Path) -> None:
    first, second = json.dumps({"output": []}), json.dumps({"output": [tensor()]})
    text = f'{{"data": {{\n  "a": {first},\n  "b": {{}},\n  "a": {second}\n }}\n}}'
    dump = read_dump(write_texts(tmp_path, text, '{"a": null, "a": "b", "b": null}'))
    assert np_lengths(dump) == [1, 0]
    assert dump.parents == ["b", None]
    assert dump.warnings == ['dump.json: 1 repeated key, the last value counts: "a"',
                             'construct.json: 1 repeated key, the last value counts: "a"']


@pytest.mark.parametrize("text", ['"a": {}', '"a": {\n   "output": []\n  }'])
def test_repeated_nodes_are_found_in_every_piece(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_SIZE", 100)
    body = ",\n  ".join([text] + [f'"b{i}": {{\n   "output": []\n  }}' for i in range(50)] + [text])
    dump = read_dump(write_texts(tmp_path, f'{{\n "data": {{\n  {body}\n }}\n}}'))
    assert dump.warnings[0].startswith('dump.json: 1 repeated key, the last value counts: "a"')


@pytest.mark.parametrize(("text", "message"), [
    ("", "dump.json is empty: the dump was not finished"),
    ('{\n "task": "statistics",\n "data": {\n  "a": {', r"dump.json, line 4, column 9: the file ends in the middle of a value"),
    ('{\n "data": {\n  "a": {"output": [1 2]}\n }\n}', r"dump.json, line 3, column 22: not valid JSON: Expecting ',' delimiter"),
    ('{\n "data": {\n  "a": {"output": [-]}\n }\n}', r"dump.json, line 3, column 20: not valid JSON"),
    ('{\n "data": {\n  "a": {"output": [{"type": NaN NaN}]}\n }\n}', r"dump.json, line 3"),
    ('{\n "data": {\n  "a": {}\n }\n}}', r"dump.json, line 5, column 2: not valid JSON: Extra data"),
    ("[]", "dump.json must hold a JSON object with the key data, but holds a list"),
    ("{}", "dump.json has no key data"),
    ('{"data": []}', "dump.json, key data: must be an object .* but is a list"),
    ('{"data": null}', "dump.json, key data: must be an object .* but is null"),
])
def test_a_broken_dump_is_one_sentence_with_file_and_position(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_dump(write_texts(tmp_path, text))


def test_texts_that_are_not_utf8_are_one_sentence_with_file_and_position(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, {"output": []})
    (tmp_path / "dump.json").write_bytes(b'{\n "data": {\n  "\xff": {}\n }\n}')
    with pytest.raises(UserError, match=r"dump\.json, line 3, column 4: not UTF-8 text"):
        read_dump(folder)


@pytest.mark.parametrize("name", ["dump.json", "construct.json"])
def test_a_missing_file_is_one_clear_sentence(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path, {"output": []})
    (tmp_path / name).unlink()
    with pytest.raises(UserError, match=f"has no {name}"):
        read_dump(folder)


def test_a_missing_directory_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not there"):
        read_dump(tmp_path / "nothing")


@pytest.mark.parametrize(("text", "message"), [
    ("{}", "construct.json is empty, so there is no tree to draw: dump again with level L0 or mix"),
    ('{"megatron_micro_step_number": 3}', "construct.json is empty"),
    ("[1]", "construct.json must hold a JSON object .* but holds a list"),
    ('{"a": nul}', "construct.json, line 1, column 7: not valid JSON"),
    ('{"a": "b"', "construct.json, line 1, column 10: the file ends in the middle"),
])
def test_a_broken_construct_file_is_one_clear_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_dump(write_texts(tmp_path, '{"data": {}}', text))


# ---------------------------------------------------------------- construct.json


def test_micro_steps_stated_by_megatron(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {}, {"megatron_micro_step_number": 1, "a": ["p", 0], "b": [None, 1], "c": "p", "d": None}))
    assert dump.names == ["a", "b", "c", "d"]
    assert dump.parents == ["p", None, "p", None]
    assert dump.micro_steps == [0, 1, -1, -1]


def test_steps_beside_parents_count_without_the_megatron_key(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {}, {"a": ["p", 1], "b": None}))
    assert (dump.parents, dump.micro_steps) == (["p", None], [1, -1])


def test_without_any_statement_micro_steps_are_left_to_the_tree(tmp_path: Path) -> None:
    assert read_dump(write_dump(tmp_path, {}, {"a": None})).micro_steps is None


def test_malformed_parents_are_named(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {}, {"a": 3, "b": ["p"], "c": {"x": 1}, "d": "p"}, task="structure"))
    assert dump.parents == [None, "p", None, "p"]
    [warning] = dump.warnings
    assert warning.endswith('is passed over at "a", "b", "c"')


# ---------------------------------------------------------------- stack.json

LINES = ["File a.py, line 1, in f, \n x", "File b.py, line 2, in g, \n y"]


@pytest.mark.parametrize("stack", [
    {"0": [["a", "c"], LINES], "1": [["b"], LINES[:1]]},
    {"a": LINES, "b": LINES[:1], "c": LINES},
])
def test_both_formats_of_stacks_and_alike_stacks_once(tmp_path: Path, stack: dict[str, Any]) -> None:
    dump = read_dump(write_dump(tmp_path, {}, dict.fromkeys("abcd"), stack, task="structure"))
    assert dump.stacks == [tuple(LINES), tuple(LINES[:1])]
    assert dump.stack.tolist() == [0, 1, 0, -1]


def test_backward_nodes_show_the_stack_of_their_forward_twin(tmp_path: Path) -> None:
    names = ["Torch.f.0.forward", "Torch.f.0.backward",
             "Module.a.B.forward.0", "Module.a.B.forward.1", "Module.a.B.backward.1", "Module.a.B.backward.2"]
    stack = {"Torch.f.0.forward": ["f"], "Module.a.B.forward.0": ["zero"], "Module.a.B.forward.1": ["one"]}
    dump = read_dump(write_dump(tmp_path, {}, dict.fromkeys(names), stack, task="structure"))
    assert [dump.stacks[number] for number in dump.stack] == [("f",), ("f",), ("zero",), ("one",), ("one",), ("zero",)]


def test_a_dump_without_stacks_is_a_warning(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, {"output": [tensor()]})
    (tmp_path / "stack.json").unlink()
    dump = read_dump(folder)
    assert dump.stack.tolist() == [-1]
    assert dump.warnings == ["stack.json is not there: nodes have no call stacks"]


def test_malformed_stacks_are_named_and_the_others_kept(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {}, dict.fromkeys("ab"), {"a": 3, "b": ["line"]}, task="structure"))
    assert dump.stack.tolist() == [-1, 0]
    assert dump.warnings == ['stack.json: malformed stacks are left out: "a"']


def test_statistics_written_as_texts_leave_the_shape_alone(tmp_path):
    from tests.small_dumps import LINEAR, entry, tensor, write_dump

    directory = write_dump(str(tmp_path), {LINEAR: entry([], [tensor("inf", "-inf", "nan", "inf", shape=(8, 4))])})
    leaves = read_dump(directory).leaves
    assert [leaves.shapes[number] for number in leaves.shape] == [(8, 4)]
