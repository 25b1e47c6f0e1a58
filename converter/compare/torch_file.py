"""Reads a tensor from a `.pt` file: the zip form directly, every other form through torch where it is installed.

A dump of six thousand nodes holds thirteen thousand files of a few kilobytes. `torch.load` takes 0.6 ms for one, and
importing torch two seconds and 200 MB; so the form that `torch.save` writes for a plain dense tensor is read here:
a zip archive without compression, `{name}/data.pkl` (a pickle that names storage, offset, shape and strides),
`{name}/data/{key}` (the elements) and `{name}/byteorder`. The pickle is read as data: it can call nothing but the
functions below. Sparse, quantised, conjugated and subclassed tensors and files older than torch 1.6 go to
`torch.load(weights_only=True)`.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import struct
import sys
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable

import numpy as np
from numpy.lib.stride_tricks import as_strided

from converter.compare.number_formats import FORMATS, NumberFormat
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable

_STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
    "BoolStorage": "bool", "ComplexDoubleStorage": "complex128", "ComplexFloatStorage": "complex64",
}
# Entry of the central directory: compression, size, length of the name, offset of the local header (zip § 4.3.12).
_MEMBER = struct.Struct("<10xH12xIH12xI")
_LENGTHS = struct.Struct("<HH")
_SMALL_FILE = 1 << 20  # read whole; of larger ones only the parts that are needed


class _OtherForm(Exception):
    """Not a plain dense tensor in a zip archive: left to torch."""


@dataclass(frozen=True)
class _Layout:
    """What data.pkl says about a tensor. Offset and strides count elements."""

    key: str
    format: NumberFormat
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dense: bool  # the elements lie one behind the other in C order


def read_torch_file(file: int, length: int, path: str) -> StoredTensor:
    """The tensor in an open `.pt` file (descriptor). Raises TensorUnavailable where it holds none, OSError where it cannot be read."""
    try:
        return _read_zip(file, length)
    except _OtherForm:
        return _read_with_torch(path)


def _read_zip(file: int, length: int) -> StoredTensor:
    read = _reader(file, length)
    archive = _Archive(read, length, file)
    pickled = archive.find("data.pkl")
    if pickled is None:
        raise _OtherForm
    layout = _layout(archive.content(pickled))
    data = archive.find(f"data/{layout.key}")
    if data is None:
        raise TensorUnavailable("the file has no elements (damaged)", "文件中没有元素（已损坏）")
    width = layout.format.width
    # The highest element that is used: a view may lie anywhere in a storage that is much larger.
    extent = 0 if 0 in layout.shape else 1 + sum((size - 1) * stride for size, stride in zip(layout.shape, layout.strides))
    start, size = layout.offset * width, extent * width
    if start + size > data[1]:
        raise TensorUnavailable("the file is shorter than its shape (damaged)", "文件短于其形状所需长度（已损坏）")
    elements = np.frombuffer(archive.content(data, start, size), layout.format.stored)
    if not layout.dense:
        elements = as_strided(elements, layout.shape, [stride * width for stride in layout.strides], writeable=False)
    order = archive.find("byteorder")
    if order is not None and archive.content(order) == b"big":
        elements = elements.byteswap()
    return StoredTensor(elements.reshape(layout.shape), layout.format)


def _reader(file: int, length: int) -> Callable[[int, int], bytes]:
    """A function (start, size) → bytes of the file."""
    if length <= _SMALL_FILE:
        whole = _read_at(file, 0, length)
        return lambda start, size: whole[start : start + size]
    return lambda start, size: _read_at(file, start, size)


def _read_at(file: int, start: int, size: int) -> bytes:
    os.lseek(file, start, os.SEEK_SET)
    first = os.read(file, size)  # 2 GiB at most
    if len(first) == size:
        return first
    parts = bytearray(first)
    while len(parts) < size:
        part = os.read(file, size - len(parts))
        if not part:
            break
        parts += part
    return bytes(parts)


class _Archive:
    """The entries of a zip archive without compression, found by their names below the archive's one folder."""

    def __init__(self, read: Callable[[int, int], bytes], length: int, file: int) -> None:
        self._read = read
        self._directory = b""
        self._listed: dict[str, tuple[int, int]] = {}
        end = read(length - 22, 22) if length >= 22 else b""
        if end[:4] == b"PK\x05\x06":
            size, start = struct.unpack_from("<II", end, 12)
            if start < 0xFFFFFFFF:
                self._directory = read(start, size)
                return
        if read(0, 2) != b"PK":
            raise _OtherForm
        self._listed = _list_archive(file)  # above 4 GB, or with a comment

    def find(self, name: str) -> tuple[int, int] | None:
        """(offset of the local header, size) of the entry `{folder}/{name}`."""
        if self._listed:
            return next((place for entry, place in self._listed.items() if entry.endswith("/" + name)), None)
        wanted = b"/" + name.encode()
        at = self._directory.find(wanted)
        while at >= 0:
            # An entry that ends in the name starts with a mark; its checksum may look like another one.
            start = self._directory.rfind(b"PK\x01\x02", 0, at)
            while start >= 0 and start + _MEMBER.size <= at + len(wanted):
                compression, size, name_length, offset = _MEMBER.unpack_from(self._directory, start)
                if start + _MEMBER.size + name_length == at + len(wanted):
                    if compression or size == 0xFFFFFFFF or offset == 0xFFFFFFFF:
                        raise _OtherForm
                    return offset, size
                start = self._directory.rfind(b"PK\x01\x02", 0, start)
            at = self._directory.find(wanted, at + 1)
        return None

    def content(self, entry: tuple[int, int], start: int = 0, size: int | None = None) -> bytes:
        """Bytes start:start + size of an entry. Its local header is 30 bytes, its name and an extra field of its own length."""
        offset, full_size = entry
        header = self._read(offset, 30)
        wanted = full_size if size is None else size
        if header[:4] == b"PK\x03\x04" and len(header) == 30:
            name_length, extra_length = _LENGTHS.unpack_from(header, 26)
            content = self._read(offset + 30 + name_length + extra_length + start, wanted)
            if len(content) == wanted:
                return content
        raise _damaged()


def _list_archive(file: int) -> dict[str, tuple[int, int]]:
    try:
        with zipfile.ZipFile(os.fdopen(os.dup(file), "rb")) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _damaged() from error
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise _OtherForm
    return {member.filename: (member.header_offset, member.file_size) for member in members}


def _damaged() -> TensorUnavailable:
    return TensorUnavailable("the file is damaged or cut off", "文件已损坏或不完整")


@lru_cache(maxsize=4096)  # tensors of one shape have the same data.pkl
def _layout(pickled: bytes) -> _Layout:
    try:
        layout = _TensorPickle(io.BytesIO(pickled)).load()
    except _OtherForm:
        raise
    except Exception as error:  # a pickle can fail in any way; the worst it can do is to be no tensor
        raise _damaged() from error
    if not isinstance(layout, _Layout):
        raise TensorUnavailable("the file does not hold a tensor", "文件中不是张量")
    return layout


class _TensorPickle(pickle.Unpickler):
    """Reads a pickle of one tensor. Any global that is not in this table ends the reading."""

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor_v3"):
            return _rebuild_tensor
        if module == "torch._utils" and name == "_rebuild_parameter":
            return _rebuild_parameter
        if (module, name) == ("collections", "OrderedDict"):
            return _no_hooks
        if module == "torch" and name in _STORAGES:
            return FORMATS[_STORAGES[name]]
        if (module, name) == ("torch.storage", "UntypedStorage"):
            return None
        if module == "torch" and name in FORMATS:
            return FORMATS[name]
        raise _OtherForm

    def persistent_load(self, identifier: Any) -> tuple[str, NumberFormat | None]:
        kind, number_format, key, _device, _count = identifier
        if kind != "storage" or not isinstance(key, str):
            raise _OtherForm
        return key, number_format


def _rebuild_tensor(storage: tuple[str, NumberFormat | None], offset: int, shape: tuple[int, ...], strides: tuple[int, ...],
                    _requires_grad: bool, _hooks: Any, number_format: Any = None, metadata: Any = None) -> _Layout:
    key, storage_format = storage
    if storage_format is not None:  # version 2: the seventh argument is metadata such as "conjugated"
        if number_format is not None:
            raise _OtherForm
        number_format = storage_format
    elif metadata is not None or not isinstance(number_format, NumberFormat):
        raise _OtherForm
    sizes = (offset, *shape, *strides)
    if len(shape) != len(strides) or not all(isinstance(size, int) and size >= 0 for size in sizes):
        raise ValueError("not a tensor")
    dense = math.prod(shape) == 0 or all(size == 1 or stride == step for size, stride, step in zip(shape, strides, _dense_strides(shape)))
    return _Layout(key, number_format, offset, tuple(shape), tuple(strides), dense)


def _rebuild_parameter(data: _Layout, _requires_grad: bool, _hooks: Any) -> _Layout:
    return data


def _no_hooks() -> dict[str, Any]:
    return {}


def _dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _read_with_torch(path: str) -> StoredTensor:
    try:
        import torch
    except ImportError as error:
        raise TensorUnavailable("torch is not installed; this form of .pt file needs it: pip install torch",
                                "未安装 torch，而此种 .pt 文件需要它：pip install torch") from error
    try:
        tensor = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch has no common class for what can be wrong with a file
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise TensorUnavailable(f"torch cannot read the file: {first_line}", f"torch 无法读取该文件：{first_line}") from error
    if not isinstance(tensor, torch.Tensor):
        raise TensorUnavailable("the file does not hold a tensor", "文件中不是张量")
    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.resolve_conj().resolve_neg().contiguous()
    number_format = FORMATS.get(str(tensor.dtype).rsplit(".", 1)[-1])
    if number_format is None:
        raise TensorUnavailable(f"dtype {tensor.dtype} is not supported", f"不支持的数据类型 {tensor.dtype}")
    raw = tensor.reshape(-1).view(torch.uint8).numpy() if tensor.numel() else np.zeros(0, np.uint8)
    native = np.dtype(number_format.stored).newbyteorder("<" if sys.byteorder == "little" else ">")
    return StoredTensor(raw.view(native).astype(number_format.stored).reshape(tuple(tensor.shape)), number_format)
