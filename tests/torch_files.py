"""Writes .pt files byte by byte, so that tests of the reader do not need torch."""

from __future__ import annotations

import struct
import zipfile


def _integer(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def _text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def _tuple(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(_integer, values)) + b"t"


def pickled(storage: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, dtype: str = "") -> bytes:
    """data.pkl of a tensor: version 2 with a typed storage ("torch FloatStorage"), version 3 where a dtype is given."""
    module, name = storage.split()
    function = "_rebuild_tensor_v3" if dtype else "_rebuild_tensor_v2"
    last = b"ctorch\n" + dtype.encode() + b"\n" if dtype else b""
    identifier = b"(" + _text("storage") + f"c{module}\n{name}\n".encode() + _text("0") + _text("cpu") + _integer(0) + b"tQ"
    arguments = identifier + _integer(offset) + _tuple(shape) + _tuple(strides) + b"\x89ccollections\nOrderedDict\n)R" + last
    return b"\x80\x02ctorch._utils\n" + function.encode() + b"\n(" + arguments + b"tR."


def write_torch_file(path: str, pickle_bytes: bytes, elements: bytes, byteorder: str = "little", comment: bytes = b"") -> None:
    """A zip archive as torch.save writes it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("tensor/data.pkl", pickle_bytes)
        archive.writestr("tensor/byteorder", byteorder)
        archive.writestr("tensor/data/0", elements)
        archive.comment = comment
