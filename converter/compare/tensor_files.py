"""Finds and reads the file of one tensor of a dump: `.pt` (PyTorch) or `.npy` (MindSpore)."""

from __future__ import annotations

import os
import stat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import FORMATS, format_of
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.torch_file import read_torch_file


def read_tensor(directory: str, name: str, dtype: str = "") -> StoredTensor:
    """The tensor that a dump names `name`, looked for in its `dump_tensor_data` directory wherever that lies now.

    `dtype` is the dtype that dump.json states. Only `.npy` files need it: numpy has no bfloat16 and no 8-bit floats, so
    these lie there as bare bytes or unsigned integers.

    Raises TensorUnavailable, with the reason in two languages, for a missing, foreign, damaged or unsupported file.
    """
    path = _path(directory, name)
    suffix = os.path.splitext(name)[1].lower()
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for ever
            raise TensorUnavailable(f"{name} is not a file", f"{name} 不是文件")
        if suffix == ".pt":
            return read_torch_file(path)
        if suffix == ".npy":
            return _read_numpy_file(path, dtype)
    except FileNotFoundError as error:
        raise TensorUnavailable(f"its file {name} is missing", f"文件 {name} 不存在") from error
    except OSError as error:
        raise TensorUnavailable(f"its file {name} cannot be read: {error.strerror}", f"文件 {name} 无法读取：{error.strerror}") from error
    except MemoryError as error:
        raise TensorUnavailable(f"its file {name} does not fit into memory", f"内存不足，无法读取文件 {name}") from error
    except TensorUnavailable as error:
        raise TensorUnavailable(f"{name}: {error.why}", f"{name}：{error.why_zh}") from error
    raise TensorUnavailable(f"its file {name} is neither .pt nor .npy", f"文件 {name} 既不是 .pt 也不是 .npy")


def _path(directory: str, name: str) -> str:
    """Where the file must lie. A dump may come from anybody: its names cannot point out of its directory."""
    if not directory:
        raise TensorUnavailable("the dump has no directory dump_tensor_data", "该 dump 没有 dump_tensor_data 目录")
    parts = name.replace("\\", "/").split("/")
    if not name or "\0" in name or ".." in parts or os.path.isabs(name) or not parts[0] or ":" in parts[0]:
        raise TensorUnavailable(f"its file name {name!r} points out of the dump", f"文件名 {name!r} 指向 dump 目录之外")
    return os.path.join(directory, name)


def _read_numpy_file(path: str, dtype: str) -> StoredTensor:
    try:
        elements: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        if "allow_pickle" in str(error):
            raise TensorUnavailable("the file holds Python objects, not numbers", "文件中是 Python 对象而非数值") from error
        raise TensorUnavailable("the file is damaged or cut off", "文件已损坏或不完整") from error
    if not isinstance(elements, np.ndarray):  # an archive of arrays under a name that ends in .npy
        raise TensorUnavailable("the file does not hold a tensor", "文件中不是张量")
    stated = format_of(dtype)
    if stated is not None and stated.stored != elements.dtype.newbyteorder("<").str:
        # Bare bytes ("V2"), or the bit patterns as unsigned integers of the same width.
        width = np.dtype(stated.stored).itemsize
        if elements.dtype.kind == "V" and elements.dtype.itemsize == width:
            return StoredTensor(elements.view(stated.stored), stated)
    if stated is not None and stated.kind == "float" and elements.dtype.kind == "u" and stated.stored[-2:] == elements.dtype.str[-2:]:
        return StoredTensor(elements.astype(stated.stored), stated)
    found = FORMATS.get(elements.dtype.name)
    if found is None:
        raise TensorUnavailable(f"dtype {elements.dtype} is not supported", f"不支持的数据类型 {elements.dtype}")
    return StoredTensor(elements.astype(found.stored, copy=False), found)
