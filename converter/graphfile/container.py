"""The container of a graph file: preamble, header, gzip-compressed sections with checksums. Format: docs/graph_file.md.

    offset  bytes  what
    0       8      b"TBGRAPH\\n"
    8       4      length of the header, uint32 little-endian
    12      4      CRC-32 of the header, uint32 little-endian
    16      …      message Header of proto/graph.proto
    …       …      the stored bytes of the sections; Header says where each one lies

Whatever a section means is the business of writer.py and reader.py.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable

from google.protobuf.message import DecodeError

from converter.graphfile import errors, graph_pb2

MAGIC = b"TBGRAPH\n"
MAJOR, MINOR = 1, 0
PREAMBLE = struct.Struct("<8sII")
GZIP_LEVEL = 3  # measured: docs/graph_file.md, "Why these numbers"
LARGEST_HEADER = 64 << 20  # bytes; more than 500,000 sections, so a length beyond it is damage

ReadRange = Callable[[int, int], bytes]  # (offset, length) -> bytes, fewer at the end of the file


@dataclass(frozen=True)
class SectionEntry:
    """Where one section lies. Fields as in message Section."""

    name: str
    offset: int
    stored_length: int
    raw_length: int
    crc32: int
    gzipped: bool


@dataclass(frozen=True)
class Index:
    """What the header says. `identity` is the CRC-32 of the header: it changes with any byte of any section."""

    major: int
    minor: int
    tool: str
    identity: int
    sections: dict[str, SectionEntry]


# ---------------------------------------------------------------- writing


def compress(raw: bytes) -> bytes:
    """One gzip member without name and time, so that equal content gives equal bytes."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 31)
    return packer.compress(raw) + packer.flush()


def container_chunks(tool: str, sections: Iterable[tuple[str, bytes]], threads: int | None = None) -> Iterator[bytes]:
    """The bytes of a graph file in order, compressing the given (name, raw bytes) in threads as they are made.

    zlib releases the interpreter's lock, so compression runs beside the making of the next sections. No more than a
    few raw sections are alive at a time; the compressed ones are held, since the header in front names their lengths.
    """
    workers = threads or min(8, os.cpu_count() or 1)
    stored: list[bytes] = []
    entries: list[graph_pb2.Section] = []
    names: set[str] = set()

    def take(name: str, raw_length: int, future: Future[bytes]) -> None:
        blob = future.result()
        stored.append(blob)
        entries.append(graph_pb2.Section(name=name, stored_length=len(blob), raw_length=raw_length,
                                         crc32=zlib.crc32(blob), encoding=graph_pb2.ENCODING_GZIP))

    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[tuple[str, int, Future[bytes]]] = deque()
        for name, raw in sections:
            if name in names:
                raise ValueError(f"two sections of the name {name!r}")
            names.add(name)
            waiting.append((name, len(raw), pool.submit(compress, raw)))
            if len(waiting) > 2 * workers:
                take(*waiting.popleft())
        while waiting:
            take(*waiting.popleft())

    header = _header(tool, entries)
    yield PREAMBLE.pack(MAGIC, len(header), zlib.crc32(header))
    yield header
    yield from stored


def _header(tool: str, entries: list[graph_pb2.Section]) -> bytes:
    """The header with offsets filled in. Offsets are varints behind a header whose length depends on them, so they
    are laid out again until the length stays; it only ever grows, hence this ends."""
    start = 0
    while True:
        offset = start
        for entry in entries:
            entry.offset = offset
            offset += entry.stored_length
        header = graph_pb2.Header(major=MAJOR, minor=MINOR, tool=tool, sections=entries).SerializeToString(deterministic=True)
        if PREAMBLE.size + len(header) == start:
            return header
        start = PREAMBLE.size + len(header)


def write_atomically(path: str, chunks: Iterable[bytes]) -> int:
    """Writes the chunks under a temporary name beside `path`, forces them to disk and renames. Returns the size in bytes.

    Whatever happens, `path` is either what it was before or complete. Raises OSError.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            size = 0
            for chunk in chunks:
                size += stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return size


# ---------------------------------------------------------------- reading


def read_index(read_range: ReadRange, size: int, name: str) -> Index:
    """Reads and checks preamble and header of a graph file of `size` bytes. `name` is for messages.

    Two small reads. Every section is checked to lie inside the file, so that a file that was cut off is found here.
    Raises GraphFileError.
    """
    preamble = read_range(0, PREAMBLE.size)
    if preamble[: len(MAGIC)] != MAGIC[: len(preamble)] or not preamble:
        raise errors.not_a_graph_file(name)
    if len(preamble) < PREAMBLE.size:
        raise errors.truncated(name, size, PREAMBLE.size)
    _, length, checksum = PREAMBLE.unpack(preamble)
    if length > LARGEST_HEADER:
        raise errors.damaged(name, "the length of its header is impossible", "文件头长度异常")
    header = read_range(PREAMBLE.size, length)
    if len(header) < length:
        raise errors.truncated(name, size, PREAMBLE.size + length)
    if zlib.crc32(header) != checksum:
        raise errors.damaged(name, "the checksum of its header is wrong", "文件头校验和错误")
    try:
        message = graph_pb2.Header.FromString(header)
    except DecodeError:
        raise errors.damaged(name, "its header is no protobuf message", "文件头不是有效的 protobuf 消息") from None
    if message.major > MAJOR:
        raise errors.newer_version(name, message.major, MAJOR, message.tool or "?")
    sections: dict[str, SectionEntry] = {}
    needed = PREAMBLE.size + length
    for entry in message.sections:
        if entry.name in sections:
            raise errors.damaged(name, f"section \"{entry.name}\" is there twice", f"分区 \"{entry.name}\" 重复")
        needed = max(needed, entry.offset + entry.stored_length)
        if entry.encoding not in (graph_pb2.ENCODING_NONE, graph_pb2.ENCODING_GZIP):
            continue  # of a later minor version: as unknown as its content
        sections[entry.name] = SectionEntry(entry.name, entry.offset, entry.stored_length, entry.raw_length, entry.crc32,
                                            entry.encoding == graph_pb2.ENCODING_GZIP)
    if needed > size:
        raise errors.truncated(name, size, needed)
    return Index(message.major, message.minor, message.tool, checksum, sections)


def read_stored(read_range: ReadRange, entry: SectionEntry, name: str) -> bytes:
    """The bytes of a section as they lie in the file, checked. Raises GraphFileError."""
    stored = read_range(entry.offset, entry.stored_length)
    if len(stored) != entry.stored_length:
        raise errors.truncated(name, entry.offset + len(stored), entry.offset + entry.stored_length)
    if zlib.crc32(stored) != entry.crc32:
        raise errors.damaged(name, f"the checksum of section \"{entry.name}\" is wrong", f"分区 \"{entry.name}\" 的校验和错误")
    return stored


def decode_stored(stored: bytes, entry: SectionEntry, name: str) -> bytes:
    """The protobuf message inside stored bytes. Raises GraphFileError."""
    if not entry.gzipped:
        return stored
    unpacker = zlib.decompressobj(31)
    try:
        raw = unpacker.decompress(stored, entry.raw_length + 1)  # never more memory than the header promised
    except zlib.error:
        raw = b""
    if len(raw) != entry.raw_length:
        raise errors.damaged(name, f"section \"{entry.name}\" does not unpack to {entry.raw_length} bytes",
                             f"分区 \"{entry.name}\" 解压后不是 {entry.raw_length} 字节")
    return raw
