"""Tensor files: every number format, every way in which a file can be unusable, and no way out of the dump."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from torch_files import pickled, write_torch_file

from converter.compare.number_formats import FORMATS, decode, format_of, less_precise
from converter.compare.stored_tensor import TensorUnavailable
from converter.compare.tensor_files import read_tensor

REAL = Path(__file__).parent / "data/megatron_vs_hf/hf_tensor_layer2/step0/rank0/dump_tensor_data"
WEIGHT = "Module.model.layers.2.self_attn.q_proj.Linear.forward.0.parameters.weight.pt"


def why(directory: Path, name: str, dtype: str = "") -> str:
    with pytest.raises(TensorUnavailable) as caught:
        read_tensor(str(directory), name, dtype)
    assert caught.value.why_zh
    return caught.value.why


# ---- the real form ----


def test_a_real_file_is_read_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # an import would fail
    tensor = read_tensor(str(REAL), WEIGHT)
    assert (tensor.shape, tensor.format.name) == ((64, 64), "float32")


def test_statistics_of_every_real_file_are_those_of_the_dump() -> None:
    import json

    data = json.loads((REAL.parent / "dump.json").read_text())["data"]
    checked = 0
    for entry in data.values():
        for leaf in [*entry["input_args"], *entry["output"], *entry["parameters"].values()]:
            numbers = read_tensor(str(REAL), leaf["data_name"], leaf["dtype"]).numbers()
            assert list(numbers.shape) == leaf["shape"]
            assert [numbers.max(), numbers.min()] == [leaf["Max"], leaf["Min"]]
            assert np.linalg.norm(numbers) == pytest.approx(leaf["Norm"], rel=1e-5)
            checked += 1
    assert checked == 15


@pytest.mark.parametrize(("storage", "stored", "name"), [
    ("torch DoubleStorage", "<f8", "float64"), ("torch FloatStorage", "<f4", "float32"), ("torch HalfStorage", "<f2", "float16"),
    ("torch LongStorage", "<i8", "int64"), ("torch IntStorage", "<i4", "int32"), ("torch ShortStorage", "<i2", "int16"),
    ("torch CharStorage", "|i1", "int8"), ("torch ByteStorage", "|u1", "uint8"), ("torch BoolStorage", "|b1", "bool"),
    ("torch ComplexDoubleStorage", "<c16", "complex128"), ("torch ComplexFloatStorage", "<c8", "complex64"),
])
def test_typed_storages(tmp_path: Path, storage: str, stored: str, name: str) -> None:
    elements = np.array([0, 1, 1, 0, 1, 1]).astype(stored)
    write_torch_file(str(tmp_path / "t.pt"), pickled(storage, (2, 3), (3, 1)), elements.tobytes())
    tensor = read_tensor(str(tmp_path), "t.pt")
    assert tensor.format.name == name
    np.testing.assert_array_equal(tensor.elements, elements.reshape(2, 3))


def test_bfloat16_is_the_upper_half_of_float32(tmp_path: Path) -> None:
    values = np.array([1.0, -2.5, np.inf, np.nan], np.float32)
    codes = (values.view("<u4") >> 16).astype("<u2")
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch BFloat16Storage", (4,), (1,)), codes.tobytes())
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "t.pt").numbers(), values.astype(np.float64))


@pytest.mark.parametrize(("dtype", "code", "value"), [
    ("float8_e4m3fn", 0x7E, 448.0), ("float8_e4m3fn", 0x01, 2.0**-9), ("float8_e5m2", 0x7B, 57344.0), ("float8_e5m2", 0xFC, -np.inf),
    ("float8_e4m3fnuz", 0x7F, 240.0), ("float8_e5m2fnuz", 0x7F, 57344.0), ("float8_e8m0fnu", 0x7F, 1.0), ("float8_e4m3fn", 0xFF, np.nan),
    ("float8_e4m3fnuz", 0x80, np.nan), ("float8_e5m2fnuz", 0x80, np.nan), ("float8_e8m0fnu", 0xFF, np.nan), ("float8_e5m2", 0x7F, np.nan),
])
def test_eight_bit_floats(tmp_path: Path, dtype: str, code: int, value: float) -> None:
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch.storage UntypedStorage", (1,), (1,), dtype=dtype), bytes([code]))
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "t.pt").numbers(), [value])


def test_half_precision_complex(tmp_path: Path) -> None:
    elements = np.array([1.5, -2.0, 0.0, 3.0], "<f2").tobytes()
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch.storage UntypedStorage", (2,), (1,), dtype="complex32"), elements)
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "t.pt").numbers(), [1.5 - 2j, 3j])


def test_views_transposed_and_expanded_tensors_lie_in_their_storage_as_the_strides_say(tmp_path: Path) -> None:
    storage = np.arange(12, dtype="<f4")
    write_torch_file(str(tmp_path / "view.pt"), pickled("torch FloatStorage", (2, 3), (1, 2), offset=4), storage.tobytes())
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "view.pt").elements, storage[4:10].reshape(3, 2).T)
    write_torch_file(str(tmp_path / "expanded.pt"), pickled("torch FloatStorage", (3, 2), (0, 1)), storage.tobytes())
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "expanded.pt").elements, [[0, 1]] * 3)


def test_scalars_and_empty_tensors(tmp_path: Path) -> None:
    write_torch_file(str(tmp_path / "scalar.pt"), pickled("torch FloatStorage", (), ()), np.float32(2.5).tobytes())
    assert read_tensor(str(tmp_path), "scalar.pt").numbers() == 2.5
    write_torch_file(str(tmp_path / "empty.pt"), pickled("torch FloatStorage", (0, 4), (4, 1)), b"")
    assert read_tensor(str(tmp_path), "empty.pt").shape == (0, 4)


def test_files_written_on_a_big_endian_machine(tmp_path: Path) -> None:
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch FloatStorage", (2,), (1,)), np.array([1, 2], ">f4").tobytes(), byteorder="big")
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "t.pt").numbers(), [1, 2])


def test_a_zip_with_a_comment_is_found_by_the_slow_way(tmp_path: Path) -> None:
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch FloatStorage", (1,), (1,)), np.float32(7).tobytes(), comment=b"copied")
    assert read_tensor(str(tmp_path), "t.pt").numbers() == [7]


def test_of_a_large_storage_only_the_view_is_read(tmp_path: Path) -> None:
    storage = np.arange(1 << 20, dtype="<f4")  # 4 MB: not read whole
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch FloatStorage", (3,), (1,), offset=1 << 19), storage.tobytes())
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "t.pt").numbers(), np.arange(1 << 19, (1 << 19) + 3))


# ---- numpy files ----


def test_numpy_files_of_mindspore(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([[1, 2]], np.float16))
    tensor = read_tensor(str(tmp_path), "t.npy", "Float16")
    assert (tensor.format.name, tensor.shape) == ("float16", (1, 2))


def test_bfloat16_in_a_numpy_file_comes_as_bare_bytes_or_as_unsigned_integers(tmp_path: Path) -> None:
    codes = np.array([0x3F80, 0xC000], "<u2")  # 1.0 and -2.0
    np.save(tmp_path / "bytes.npy", codes.view("V2"))
    np.save(tmp_path / "integers.npy", codes)
    for name in ("bytes.npy", "integers.npy"):
        np.testing.assert_array_equal(read_tensor(str(tmp_path), name, "BFloat16").numbers(), [1.0, -2.0])
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "integers.npy", "UInt16").numbers(), codes)


def test_a_bfloat16_tensor_saved_as_float32_keeps_its_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([1.5], np.float32))
    assert read_tensor(str(tmp_path), "t.npy", "BFloat16").numbers() == [1.5]


def test_big_endian_numpy_files(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([1, 2], ">i4"))
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "t.npy").numbers(), [1, 2])


# ---- what cannot be read is said, and nothing is run ----


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert why(tmp_path, "gone.pt") == "its file gone.pt is missing"


def test_a_dump_without_tensor_directory(tmp_path: Path) -> None:
    with pytest.raises(TensorUnavailable, match="no directory dump_tensor_data"):
        read_tensor("", "t.pt")


@pytest.mark.parametrize("name", ["../t.pt", "a/../../t.pt", "/etc/t.pt", "..\\t.pt", "C:\\t.pt", "c:t.pt", "", "a\0.pt", "\\\\host\\t.pt"])
def test_names_that_point_out_of_the_dump_are_refused(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch FloatStorage", (1,), (1,)), b"\0" * 4)
    assert "points out of the dump" in why(inside, name)


def test_a_directory_or_a_pipe_under_the_name_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "t.pt").mkdir()
    assert "t.pt: not a file" in why(tmp_path, "t.pt")
    os.mkfifo(tmp_path / "pipe.npy")
    assert "pipe.npy: not a file" in why(tmp_path, "pipe.npy")


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert "is no name of a file" in why(tmp_path, "\ud800.pt")
    assert "cannot be read" in why(tmp_path, "n" * 5000 + ".pt")


def test_other_file_types(tmp_path: Path) -> None:
    (tmp_path / "t.bin").write_bytes(b"1234")
    assert "neither .pt nor .npy" in why(tmp_path, "t.bin")


@pytest.mark.parametrize("keep", [0, 10, 200, 900, 4000, -1])
def test_a_file_cut_off_anywhere_is_damaged(tmp_path: Path, keep: int) -> None:
    (tmp_path / "t.pt").write_bytes((REAL / WEIGHT).read_bytes()[:keep])
    reason = why(tmp_path, "t.pt")
    assert reason.startswith("t.pt: ") and ("damaged" in reason or "torch" in reason)


def test_a_shape_that_the_storage_cannot_hold_is_damaged(tmp_path: Path) -> None:
    write_torch_file(str(tmp_path / "t.pt"), pickled("torch FloatStorage", (1000, 1000), (1000, 1)), b"\0" * 64)
    assert "shorter than its shape" in why(tmp_path, "t.pt")
    write_torch_file(str(tmp_path / "u.pt"), pickled("torch FloatStorage", (4,), (-1,)), b"\0" * 64)
    assert "damaged" in why(tmp_path, "u.pt")


def test_a_pickle_that_calls_something_is_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    for number, call in enumerate((b"cos\nmkdir\n(X" , b"cposix\nmkdir\n(X")):
        text = str(mark).encode()
        write_torch_file(str(tmp_path / f"{number}.pt"), b"\x80\x02" + call + len(text).to_bytes(4, "little") + text + b"tR.", b"")
        why(tmp_path, f"{number}.pt")
    assert not mark.exists()


def test_a_pickle_of_something_else_is_no_tensor(tmp_path: Path) -> None:
    write_torch_file(str(tmp_path / "t.pt"), pickle.dumps({"a": 1}, 2), b"")
    assert why(tmp_path, "t.pt") == "t.pt: the file does not hold a tensor"


def test_numpy_files_with_python_objects_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([{"a": 1}], object), allow_pickle=True)
    assert "Python objects" in why(tmp_path, "t.npy")


def test_damaged_and_foreign_numpy_files(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.arange(100))
    (tmp_path / "t.npy").write_bytes((tmp_path / "t.npy").read_bytes()[:150])
    assert "damaged or cut off" in why(tmp_path, "t.npy")
    np.save(tmp_path / "text.npy", np.array(["a"]))
    assert "not supported" in why(tmp_path, "text.npy")


def test_an_old_file_needs_torch_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.pt").write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")  # how torch.save began before version 1.6
    monkeypatch.setitem(sys.modules, "torch", None)  # the import fails
    assert "torch is not installed" in why(tmp_path, "t.pt")


# ---- number formats ----


def test_dtypes_compare_by_meaning() -> None:
    assert format_of("Float32") is format_of("torch.float32") is FORMATS["float32"]
    assert format_of("mindspore.bfloat16") is FORMATS["bfloat16"]
    assert format_of("torch.qint8") is None


def test_the_less_precise_of_two_formats() -> None:
    assert less_precise(FORMATS["float32"], FORMATS["bfloat16"]).name == "bfloat16"
    assert less_precise(FORMATS["float16"], FORMATS["bfloat16"]).name == "bfloat16"
    assert less_precise(FORMATS["int64"], FORMATS["float32"]).name == "float32"


def test_integers_stay_exact_beyond_2_to_53() -> None:
    numbers = decode(np.array([2**63 - 1, 2**53 + 1], "<i8"), FORMATS["int64"])
    assert numbers.tolist() == [2**63 - 1, 2**53 + 1]


# ---- against torch itself ----


@pytest.mark.torch
@pytest.mark.parametrize("dtype", [name for name in FORMATS if name != "complex32"])
def test_every_format_is_read_as_torch_reads_it(tmp_path: Path, dtype: str) -> None:
    import torch

    kind = getattr(torch, dtype)
    codes = (torch.arange(240) % (2 if dtype == "bool" else 256)).to(torch.uint8)
    tensor = codes.view(kind).reshape(3, -1)
    torch.save(tensor, tmp_path / "t.pt")
    ours = read_tensor(str(tmp_path), "t.pt")
    assert ours.format.name == dtype
    wide = tensor.to(torch.complex128) if kind.is_complex else tensor.to(torch.float64) if kind.is_floating_point else tensor
    np.testing.assert_array_equal(ours.numbers(), wide.numpy())


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_forms_that_only_torch_reads(tmp_path: Path) -> None:
    import torch

    values = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    cases = {"sparse": values.to_sparse(), "conjugated": torch.complex(values, values).conj(), "parameter": torch.nn.Parameter(values),
             "quantised": torch.quantize_per_tensor(values, 0.5, 0, torch.qint8)}
    for name, tensor in cases.items():
        torch.save(tensor, tmp_path / f"{name}.pt")
    torch.save(values, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("sparse", "parameter", "quantised", "old"):
        np.testing.assert_array_equal(read_tensor(str(tmp_path), f"{name}.pt").numbers(), values.numpy())
    np.testing.assert_array_equal(read_tensor(str(tmp_path), "conjugated.pt").numbers(), (values - 1j * values).numpy())
