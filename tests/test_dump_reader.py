"""What the reader makes of dump.json, construct.json and stack.json."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from converter.dumps import pieces, reference
from converter.dumps.columns import (
    PRESENT_BOOLEAN,
    PRESENT_EXACT,
    PRESENT_MAX,
    PRESENT_MEAN,
    PRESENT_MIN,
    PRESENT_NORM,
    PRESENT_NUMBERS,
    LeafKind,
    Role,
)
from converter.dumps.reader import read_dump
from converter.errors import UserError
from tests.dump_files import (
    DATA,
    RANK_DIRECTORIES,
    leaf_of,
    plain,
    refuse_reference,
    rows_of,
    tensor,
    write_dump,
    write_entry,
    write_output,
    write_texts,
)

NODE = "Functional.f.0.forward"


@pytest.fixture
def no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it an error when the fast reader hands over to the reference reader."""
    refuse_reference(monkeypatch)


# ---------------------------------------------------------------- both readers agree


@pytest.mark.parametrize("folder", RANK_DIRECTORIES, ids=lambda folder: str(folder.relative_to(DATA)))
def test_every_dump_reads_alike_with_the_reference_reader(folder: Path) -> None:
    assert plain(read_dump(folder)) == plain(reference.read_dump(folder))


@pytest.mark.parametrize("folder", RANK_DIRECTORIES, ids=lambda folder: str(folder.relative_to(DATA)))
def test_no_real_dump_needs_the_reference_reader(folder: Path, no_fallback: None) -> None:
    read_dump(folder)


@pytest.mark.parametrize("size", [64, 1000, 1 << 14])
def test_the_size_of_the_pieces_does_not_matter(size: int, monkeypatch: pytest.MonkeyPatch, no_fallback: None) -> None:
    folder = DATA / "megatron_vs_hf" / "megatron_bug_nan" / "step0" / "rank0"
    whole = plain(read_dump(folder))
    monkeypatch.setattr(pieces, "PIECE_SIZE", max(size, 200))
    assert plain(read_dump(folder)) == whole


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.integers(-2 ** 70, 2 ** 70), st.booleans(), st.none(),
    st.sampled_from(["nan", "inf", "-inf", "NaN", "Infinity", "1.5", "(1+2j)", "", "\x7f", 10 ** 400, -0.0, 0, 1, 2 ** 53, 2 ** 53 + 1]))
texts = st.one_of(
    st.sampled_from(["", "-1", "float", "torch.Tensor", "a, NaN ]", "-Infinity", '"', "\\", "\ud800", "值", "\x7f"]), st.text(max_size=5))
shapes = st.one_of(st.lists(st.integers(0, 9), max_size=3), st.sampled_from([None, "2,3", [2.0], [True], [2 ** 63], [[2]], {}]))
tensors = st.builds(
    lambda base, drop, more: {key: value for key, value in {**base, **more}.items() if key not in drop},
    st.fixed_dictionaries({"type": st.sampled_from(["torch.Tensor", "mindspore.Tensor", "x.DTensor"]),
                           "dtype": st.sampled_from(["torch.float32", "Float32", None]), "shape": shapes,
                            "Max": numbers, "Min": numbers, "Mean": numbers, "Norm": numbers,
                           "requires_grad": st.sampled_from([True, False, None, "True", 1])}),
    st.sets(st.sampled_from(["type", "dtype", "shape", "Max", "Norm", "requires_grad"]), max_size=2),
    st.dictionaries(st.sampled_from(["md5", "data_name", "layout", "value", "group_id"]), texts, max_size=2))
scalars = st.builds(
    lambda kind, value: {"type": kind, "value": value},
    st.one_of(st.sampled_from(["int", "float", "bool", "str", "complex", "slice", "torch.Size", "torch.dtype", ""]), texts),
    st.one_of(numbers, texts, st.lists(numbers, max_size=2), st.dictionaries(texts, numbers, max_size=1)))
others = st.one_of(
    st.none(), st.just({}), st.just([]), numbers, texts,
    st.builds(lambda ranks: {"type": "torch.ProcessGroup", "group_ranks": ranks, "group_id": "5a"},
              st.lists(st.integers(0, 9), max_size=2)),
    st.dictionaries(st.sampled_from(["type", "format", "group_id", "Max", "op"]), st.one_of(numbers, texts), max_size=3))
leaves = st.one_of(tensors, scalars, others)
values = st.one_of(leaves, st.lists(leaves, max_size=3), st.lists(st.lists(leaves, max_size=2), max_size=2),
                   st.dictionaries(st.sampled_from(["a", "type", "值", "b.c"]), leaves, max_size=2))
arguments = st.dictionaries(st.sampled_from(["x", "weight", "type", "forward"]), values, max_size=3)
groups = st.one_of(st.lists(values, max_size=3), arguments, values)
calls = st.dictionaries(st.sampled_from(["input_args", "input", "input_kwargs", "parameters", "output", "weight"]), groups, max_size=4)
names = st.sampled_from(["Module.a.B.forward.0", "Module.a.B.backward.0", "Torch.f.0.forward", "Module.a.B.parameters_grad",
                         "Module.a.B.parameters_grad.0", "optimizer", "x", "", "值", "Module.NaN.B.forward.0", "\x7f"])
documents = st.dictionaries(names, st.one_of(calls, calls, calls, numbers, texts, st.lists(numbers, max_size=1)), max_size=6)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=documents, indent=st.sampled_from([1, 1, 2, None]), ascii_only=st.booleans())
def test_any_dump_reads_alike_with_the_reference_reader(tmp_path: Path, data: dict[str, Any], indent: Any, ascii_only: bool) -> None:
    text = json.dumps({"task": "statistics", "data": data, "level": "mix"}, indent=indent, ensure_ascii=ascii_only)
    folder = write_texts(tmp_path, text)
    assert outcome(read_dump, folder) == outcome(reference.read_dump, folder)


# What fits the fixed shapes of the fast reader, with one thing here and there that does not.
statistics = st.one_of(st.floats(allow_nan=False), st.floats(allow_nan=False), st.integers(-9, 9), st.none(), st.booleans(), numbers)
plain_tensors = st.builds(
    lambda shape, values, more: {**tensor(*values, **more), "shape": shape},
    st.lists(st.integers(0, 9), max_size=3), st.tuples(statistics, statistics, statistics, statistics),
    st.one_of(st.just({}), st.dictionaries(st.sampled_from(["md5", "data_name"]), st.sampled_from(["18ab8799", "x.0.pt", "-1", "", None]))))
plain_scalars = st.builds(lambda kind, value: {"type": kind, "value": value}, st.sampled_from(["int", "float", "bool", "str"]),
                          st.one_of(numbers, st.sampled_from([0, 0.0, -0.0, False, "", "text"])))
plain_leaves = st.one_of(plain_tensors, plain_tensors, plain_scalars, st.none(), st.just({}))
plain_items = st.one_of(plain_leaves, plain_leaves, plain_leaves, st.lists(plain_leaves, max_size=2))
plain_entries = st.fixed_dictionaries({}, optional={
    "input_args": st.lists(plain_items, max_size=3),
    "input_kwargs": st.dictionaries(st.sampled_from(["x", "0", "值"]), plain_items, max_size=2),
    "parameters": st.dictionaries(st.sampled_from(["weight", "bias"]), plain_tensors), "output": st.lists(plain_items, max_size=2)})
gradients = st.dictionaries(st.sampled_from(["weight", "bias"]), plain_leaves.map(lambda leaf: [leaf]), max_size=2)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(calls=st.lists(plain_entries, min_size=1, max_size=3), gradient=gradients)
def test_nearly_ordinary_dumps_read_alike_with_the_reference_reader(tmp_path: Path, calls: list[Any], gradient: dict[str, Any]) -> None:
    data = {f"Functional.f.{i}.forward": entry for i, entry in enumerate(calls)}
    folder = write_dump(tmp_path, {**data, "Module.a.Linear.parameters_grad.0": gradient})
    assert plain(read_dump(folder)) == plain(reference.read_dump(folder))


def outcome(read: Any, folder: str) -> Any:
    """The dump, or the message of the error (half surrogates may stand in the file as they are, which is no UTF-8)."""
    try:
        return plain(read(folder))
    except UserError as error:
        return str(error)


# ---------------------------------------------------------------- nodes


def test_nodes_are_numbered_by_construct_then_by_dump(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {"c": {}, "a": {}, "d": {}}, {"a": None, "b": "a", "c": ""}))
    assert dump.names == ["a", "b", "c", "d"]
    assert dump.construct_count == 3
    assert dump.parents == [None, "a", None]
    assert dump.has_data.tolist() == [True, False, True, True]


def test_leaves_are_grouped_by_node_and_role_whatever_their_order_in_the_file(tmp_path: Path) -> None:
    data = {"b": {"output": [tensor()], "parameters": {"weight": tensor()}, "input_kwargs": {"mask": None},
                  "input_args": [tensor(), tensor()]},
            "a": {"output": [tensor()], "input": [tensor()]}}
    dump = read_dump(write_dump(tmp_path, data, {"a": None, "b": None}))
    assert dump.row_end.tolist() == [2, 7]
    assert [(row["role"], row["name"]) for row in rows_of(dump)] == [
        (Role.INPUT, "0"), (Role.OUTPUT, "0"),
        (Role.INPUT, "0"), (Role.INPUT, "1"), (Role.KWARG, "mask"), (Role.PARAMETER, "weight"), (Role.OUTPUT, "0")]


def test_header_fields_and_files_read(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, {"output": [tensor()]}, task="tensor", level="L0", framework="mindspore")
    (tmp_path / "dump_tensor_data").mkdir()
    dump = read_dump(folder)
    assert (dump.path, dump.task, dump.level, dump.framework) == (folder, "tensor", "L0", "mindspore")
    assert dump.tensor_directory == str(tmp_path / "dump_tensor_data")
    assert [(name, size) for name, size, _ in dump.inputs] == [
        (name, (tmp_path / name).stat().st_size) for name in ("dump.json", "construct.json", "stack.json")]


@pytest.mark.parametrize(("fields", "mode"), [
    ({}, "statistics"), ({"md5": "18ab8799"}, "md5"),
])
def test_summary_mode_is_known_by_what_tensors_hold(tmp_path: Path, fields: dict[str, str], mode: str) -> None:
    dump = read_dump(write_entry(tmp_path, {"output": [tensor(**fields)]}))
    assert dump.summary_mode == mode
    assert rows_of(dump)[0]["checksum"] == fields.get("md5")


def test_summary_mode_xor_has_no_statistics(tmp_path: Path) -> None:
    leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "requires_grad": False, "md5": "0x0123456789abcdef"}
    dump = read_dump(write_entry(tmp_path, {"output": [leaf]}))
    assert dump.summary_mode == "xor"
    assert rows_of(dump)[0]["present"] == 0


def test_structure_dumps_have_names_only_and_need_no_warning(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {}, {"a": None}, task="structure"))
    assert (dump.leaves.rows, dump.summary_mode, dump.warnings) == (0, "none", [])


def test_empty_data_in_a_statistics_dump_is_a_warning(tmp_path: Path) -> None:
    dump = read_dump(write_dump(tmp_path, {}, {"a": None}))
    assert dump.warnings == ["dump.json: data is empty, so only names and levels can be compared"]


# ---------------------------------------------------------------- names of leaves


def test_lists_and_objects_add_position_and_key(tmp_path: Path) -> None:
    entry = {"input_args": [tensor(), [tensor(), [tensor()]]],
             "input_kwargs": {"position_embeddings": [tensor(), None]},
             "output": [{"loss": None, "last_hidden_state": tensor(), "more": [tensor()]}]}
    assert [row["name"] for row in rows_of(read_dump(write_entry(tmp_path, entry)))] == [
        "0", "1.0", "1.1.0", "position_embeddings.0", "position_embeddings.1", "0.loss", "0.last_hidden_state", "0.more.0"]


@pytest.mark.parametrize("name", ["Module.a.Linear.parameters_grad", "Module.a.Linear.parameters_grad.3"])
def test_parameter_gradients_keep_the_name_of_the_parameter(tmp_path: Path, name: str) -> None:
    dump = read_dump(write_entry(tmp_path, {"weight": [tensor()], "bias": [tensor(), tensor()]}, name))
    assert [(row["role"], row["name"]) for row in rows_of(dump)] == [
        (Role.GRADIENT, "weight"), (Role.GRADIENT, "bias.0"), (Role.GRADIENT, "bias.1")]


def test_a_module_named_parameters_grad_is_an_ordinary_call(tmp_path: Path) -> None:
    dump = read_dump(write_entry(tmp_path, {"output": [tensor()]}, "Module.parameters_grad.Linear.forward.0"))
    assert [row["role"] for row in rows_of(dump)] == [Role.OUTPUT]


def test_empty_groups_and_empty_lists_hold_nothing(tmp_path: Path) -> None:
    assert rows_of(read_dump(write_entry(tmp_path, {"input_args": [[]], "input_kwargs": {}, "output": None}))) == []


def test_p2p_operations_give_their_tensor_and_their_fields(tmp_path: Path) -> None:
    operation = {"class_type": "mindspore.mint.distributed.P2POp", "tensor": tensor(), "op": "isend", "peer": 3, "tag": 0, "group_id": "ab"}
    rows = rows_of(read_dump(write_entry(tmp_path, {"input_args": [[operation]]}, "Distributed.batch_isend_irecv.0.forward")))
    assert [(row["name"], row["kind"], row["value"]) for row in rows] == [
        ("0.0.tensor", LeafKind.TENSOR, None), ("0.0.op", LeafKind.TEXT, "isend"), ("0.0.peer", LeafKind.NUMBER, "3"),
        ("0.0.tag", LeafKind.NUMBER, "0"), ("0.0.group_id", LeafKind.TEXT, "ab")]


# ---------------------------------------------------------------- leaf kinds


@pytest.mark.parametrize(("leaf", "kind", "type_name", "value"), [
    ({"type": "int", "value": -7}, LeafKind.NUMBER, "int", "-7"),
    ({"type": "float", "value": 1e-06}, LeafKind.NUMBER, "float", "1e-06"),
    ({"type": "float", "value": math.inf}, LeafKind.NUMBER, "float", "inf"),
    ({"type": "float", "value": "nan"}, LeafKind.NUMBER, "float", "nan"),
    ({"type": "bool", "value": True}, LeafKind.BOOL, "bool", "True"),
    ({"type": "str", "value": "mean"}, LeafKind.TEXT, "str", "mean"),
    ({"type": "str", "value": "nan"}, LeafKind.TEXT, "str", "nan"),
    ({"type": "complex", "value": "(1+2j)"}, LeafKind.TEXT, "complex", "(1+2j)"),
    ({"type": "torch.dtype", "value": "torch.float16"}, LeafKind.TEXT, "torch.dtype", "torch.float16"),
    ({"type": "torch.device", "value": "npu:0"}, LeafKind.TEXT, "torch.device", "npu:0"),
    ({"type": "torch.memory_format", "format": "torch.contiguous_format"}, LeafKind.TEXT, "torch.memory_format", "torch.contiguous_format"),
    ({"type": "torch.distributed.ReduceOp", "value": "RedOpType.SUM"}, LeafKind.TEXT, "torch.distributed.ReduceOp", "RedOpType.SUM"),
    ({"type": "ellipsis", "value": "..."}, LeafKind.TEXT, "ellipsis", "..."),
    ({"type": "slice", "value": [None, 5, None]}, LeafKind.OTHER, "slice", "[null, 5, null]"),
    ({"type": "torch.Size", "value": [1, 16]}, LeafKind.OTHER, "torch.Size", "[1, 16]"),
    ({"type": "torch.ProcessGroup", "group_ranks": [0, 2], "group_id": "ab"}, LeafKind.OTHER, "torch.ProcessGroup", "[0, 2]"),
    ({"type": "mindspore.ProcessGroup", "group_ranks": [0, 2], "group_id": "ab"}, LeafKind.OTHER, "mindspore.ProcessGroup", "[0, 2]"),
    ({"type": "some.Thing"}, LeafKind.OTHER, "some.Thing", None),
    (None, LeafKind.NONE, None, None),
    ({}, LeafKind.OTHER, None, None),
    (3, LeafKind.NUMBER, "int", "3"),
    ("text", LeafKind.TEXT, "str", "text"),
])
def test_leaf_kinds(tmp_path: Path, leaf: Any, kind: LeafKind, type_name: Any, value: Any) -> None:
    row = leaf_of(tmp_path, leaf)
    assert (row["kind"], row["type"], row["value"]) == (kind, type_name, value)
    assert (row["dtype"], row["shape"]) == (None, None)


def test_numbers_stand_in_all_four_statistics(tmp_path: Path) -> None:
    row = leaf_of(tmp_path, {"type": "float", "value": 0.1})
    assert (row["statistics"], row["present"]) == (("0.1",) * 4, PRESENT_NUMBERS)


@pytest.mark.parametrize("type_name", ["torch.Tensor", "mindspore.Tensor", "torch.distributed.tensor.DTensor", "FakeTensor"])
def test_tensors_of_every_type(tmp_path: Path, type_name: str) -> None:
    row = leaf_of(tmp_path, {**tensor(), "type": type_name})
    assert (row["kind"], row["type"], row["dtype"], row["shape"]) == (LeafKind.TENSOR, type_name, "torch.float32", (2, 3))
    assert (row["statistics"], row["present"], row["requires_grad"]) == (("1.0", "-1.0", "0.5", "2.0"), PRESENT_NUMBERS, 2)


def test_fields_of_distributed_tensors_are_kept_as_text(tmp_path: Path) -> None:
    row = leaf_of(tmp_path, tensor(layout={"mesh": [2, 2]}, hsdp_shard_size=4))
    assert json.loads(row["value"]) == {"layout": {"mesh": [2, 2]}, "hsdp_shard_size": 4}


@pytest.mark.parametrize(("value", "number"), [(True, 2), (False, 1), (None, 0)])
def test_requires_grad_is_true_false_or_unknown(tmp_path: Path, value: Any, number: int) -> None:
    assert leaf_of(tmp_path, {**tensor(), "requires_grad": value})["requires_grad"] == number


def test_mindspore_tensors_do_not_say_whether_they_require_gradients(tmp_path: Path) -> None:
    leaf = tensor()
    del leaf["requires_grad"]
    assert leaf_of(tmp_path, leaf)["requires_grad"] == 0


def test_a_missing_data_name_is_none(tmp_path: Path) -> None:
    assert leaf_of(tmp_path / "a", tensor(data_name="x.forward.input.0.pt"))["data_name"] == "x.forward.input.0.pt"
    assert leaf_of(tmp_path / "b", tensor(data_name="-1"))["data_name"] is None


# ---------------------------------------------------------------- statistics


def test_missing_statistics_have_no_bit(tmp_path: Path) -> None:
    row = leaf_of(tmp_path, tensor(5, 1, None, None))
    assert (row["present"], row["statistics"]) == (PRESENT_MAX | PRESENT_MIN, ("5.0", "1.0", "nan", "nan"))


def test_boolean_statistics_are_zero_and_one(tmp_path: Path) -> None:
    row = leaf_of(tmp_path, tensor(True, False, None, None))
    assert (row["present"], row["statistics"][:2]) == (PRESENT_MAX | PRESENT_MIN | PRESENT_BOOLEAN, ("1.0", "0.0"))


@pytest.mark.parametrize(("written", "read"), [
    (math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf"),
    ("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"), ("Infinity", "inf"), ("NaN", "nan")])
def test_non_finite_statistics_are_numbers(tmp_path: Path, written: Any, read: str) -> None:
    row = leaf_of(tmp_path, tensor(written, 0.0, 0.0, written))
    assert (row["statistics"], row["present"]) == ((read, "0.0", "0.0", read), PRESENT_NUMBERS)


def test_non_finite_literals_are_read_without_the_reference_reader(tmp_path: Path, no_fallback: None) -> None:
    assert leaf_of(tmp_path, tensor(math.nan, -math.inf, math.inf, math.nan))["statistics"] == ("nan", "-inf", "inf", "nan")


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "x, NaN, y", "[ Infinity ]"])
def test_texts_that_look_like_literals_stay_texts(tmp_path: Path, text: str) -> None:
    assert leaf_of(tmp_path, {"type": "str", "value": text})["value"] == text


@pytest.mark.parametrize("number", [2 ** 53 + 1, -2 ** 63, 2 ** 64, 10 ** 30, 10 ** 400])
def test_integers_beyond_float64_keep_their_digits(tmp_path: Path, number: int) -> None:
    row = leaf_of(tmp_path, tensor(number, 0, None, None))
    assert row["exact"] == (str(number), "0", "", "")
    assert row["present"] == PRESENT_MAX | PRESENT_MIN | PRESENT_EXACT
    assert row["statistics"][0] == repr(float(number) if abs(number) < 10 ** 308 else math.inf)


def test_integers_of_more_digits_than_python_takes(tmp_path: Path) -> None:
    digits = "7" * 5000
    folder = write_output(tmp_path, f'{{"type": "t", "dtype": "d", "shape": [], "Max": {digits}}}')
    [row] = rows_of(read_dump(folder))
    assert (row["exact"][0], row["statistics"][0]) == (digits, "inf")


def test_integers_that_float64_holds_need_no_text(tmp_path: Path) -> None:
    assert leaf_of(tmp_path, tensor(2 ** 53, -2 ** 53, None, None))["exact"] is None


def test_numbers_beyond_float64_are_infinite(tmp_path: Path) -> None:
    folder = write_output(tmp_path, '{"type": "t", "dtype": "d", "shape": [], "Max": 1e999}')
    assert rows_of(read_dump(folder))[0]["statistics"][0] == "inf"


def test_statistics_that_are_no_numbers_are_kept_as_text(tmp_path: Path) -> None:
    row = leaf_of(tmp_path, tensor("(1+2j)", 0.5, None, None))
    assert row["exact"] == ("(1+2j)", "0.5", "", "")
    assert row["present"] == PRESENT_MIN | PRESENT_EXACT


def test_tensors_without_elements_have_no_statistics(tmp_path: Path) -> None:
    row = leaf_of(tmp_path, {**tensor(None, None, None, None), "shape": [0, 3]})
    assert (row["present"], row["shape"]) == (0, (0, 3))
    assert PRESENT_MEAN | PRESENT_NORM | PRESENT_MAX | PRESENT_MIN == PRESENT_NUMBERS


def test_sizes_that_are_no_integers_leave_the_shape_unknown(tmp_path: Path) -> None:
    assert leaf_of(tmp_path, {**tensor(), "shape": [2, "?"]})["shape"] is None
