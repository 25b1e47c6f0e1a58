"""Finds and reads the file of one tensor of a dump: `.pt` (PyTorch) or `.npy` (MindSpore)."""

from __future__ import annotations

import os
import re
import stat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from converter.compare.number_formats import FORMATS, format_of
from converter.compare.stored_tensor import StoredTensor, TensorUnavailable
from converter.compare.torch_file import read_torch_file

# Opening a pipe must not wait for a writer. Not every system has each of these.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_PLAIN_NAME = re.compile(r"[^/\\:\0.][^/\\:\0]*")


def read_tensor(directory: str, name: str, dtype: str = "") -> StoredTensor:
    """The tensor that a dump names `name`, looked for in its `dump_tensor_data` directory wherever that lies now.

    `dtype` is the dtype that dump.json states. Only `.npy` files need it: numpy has no bfloat16 and no 8-bit floats, so
    these lie there as bare bytes or unsigned integers.

    Raises TensorUnavailable, with the reason in two languages, for a missing, foreign, damaged or unsupported file.
    """
    path = _path(directory, name)
    try:
        file = os.open(path, _FLAGS)
        try:
            state = os.fstat(file)
            if not stat.S_ISREG(state.st_mode):
                raise TensorUnavailable("not a file", "不是文件")
            if name.endswith(".pt"):
                return read_torch_file(file, state.st_size, path)
            if name.endswith(".npy"):
                return _read_numpy_file(file, dtype)
        finally:
            os.close(file)
    except FileNotFoundError as error:
        raise TensorUnavailable(f"its file {name} is missing", f"文件 {name} 不存在") from error
    except UnicodeEncodeError as error:
        raise TensorUnavailable(f"its file name {name!r} is no name of a file", f"文件名 {name!r} 无效") from error
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
    if not _PLAIN_NAME.fullmatch(name):
        parts = name.replace("\\", "/").split("/")
        if not parts[0] or ":" in parts[0] or "\0" in name or ".." in parts:
            raise TensorUnavailable(f"its file name {name!r} points out of the dump", f"文件名 {name!r} 指向 dump 目录之外")
    return f"{directory}/{name}"


def _read_numpy_file(file: int, dtype: str) -> StoredTensor:
    try:
        with os.fdopen(file, "rb", closefd=False) as opened:
            elements: NDArray[Any] = np.load(opened, allow_pickle=False)
    except (ValueError, EOFError) as error:
        if "allow_pickle" in str(error):
            raise TensorUnavailable("the file holds Python objects, not numbers", "文件中是 Python 对象而非数值") from error
        raise TensorUnavailable("the file is damaged or cut off", "文件已损坏或不完整") from error
    if not isinstance(elements, np.ndarray):  # an archive of arrays under a name that ends in .npy
        raise TensorUnavailable("the file does not hold a tensor", "文件中不是张量")
    stated = format_of(dtype)
    if stated is not None and elements.dtype.itemsize == stated.width:
        if elements.dtype.kind == "V":  # bare bytes
            return StoredTensor(elements.view(stated.stored), stated)
        if elements.dtype.kind == "u" and stated.kind == "float":  # the bit patterns as unsigned integers
            return StoredTensor(elements.astype(elements.dtype.newbyteorder("<")).view(stated.stored), stated)
    found = FORMATS.get(elements.dtype.name)
    if found is None:
        raise TensorUnavailable(f"dtype {elements.dtype} is not supported", f"不支持的数据类型 {elements.dtype}")
    return StoredTensor(elements.astype(found.stored, copy=False), found)
