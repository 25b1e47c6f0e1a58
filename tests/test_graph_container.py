"""The container: what is written is read back by ranges, bytes are reproducible, and damage is named, never passed on."""

from __future__ import annotations

import os
import re
import threading
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.graphfile import container, graph_pb2
from converter.graphfile.errors import GraphFileError
from converter.graphfile.file import GraphFile, open_graph
from converter.graphfile.source import Source

SECTIONS = [("summary", b"first"), ("tensors/target/0", b"x" * 5000), ("empty", b"")]


def whole(sections, tool="test 1"):
    return b"".join(container.container_chunks(tool, sections))


def opened(data: bytes) -> GraphFile:
    return GraphFile(Source("memory.pb", len(data), "", lambda offset, length: data[offset : offset + length]))


def with_header(change) -> bytes:
    """A file whose header was changed and made valid again: offsets are moved by what its length changed."""
    data = whole(SECTIONS)
    _, length, _ = container.PREAMBLE.unpack(data[:16])
    header = graph_pb2.Header.FromString(data[16 : 16 + length])
    change(header)
    moved = 0
    while header.ByteSize() - length != moved:
        further = header.ByteSize() - length - moved
        for section in header.sections:
            section.offset += further
        moved += further
    raw = header.SerializeToString()
    return container.PREAMBLE.pack(container.MAGIC, len(raw), zlib.crc32(raw)) + raw + data[16 + length :]


NAMED = st.tuples(st.text(st.characters(codec="utf-8"), max_size=8), st.binary(max_size=300))


@given(st.lists(NAMED, unique_by=lambda section: section[0]))
def test_every_section_comes_back_as_it_was_written(sections):
    file = opened(whole(sections))
    assert list(file.index.sections) == [name for name, _ in sections]
    for name, raw in sections:
        assert file.raw(name) == raw


def test_stored_bytes_are_one_gzip_member_that_a_browser_can_unpack():
    stored = opened(whole(SECTIONS)).stored("tensors/target/0")
    assert zlib.decompress(stored, wbits=31) == b"x" * 5000


def test_equal_content_gives_equal_bytes_whatever_the_number_of_threads():
    many = [(f"section/{i}", os.urandom(1) * i) for i in range(200)]
    files = {b"".join(container.container_chunks("tool", many, threads)) for threads in (1, 2, 8)}
    assert len(files) == 1


def test_offsets_count_from_the_start_of_the_file():
    data = whole(SECTIONS)
    for entry in opened(data).index.sections.values():
        stored = data[entry.offset : entry.offset + entry.stored_length]
        assert zlib.crc32(stored) == entry.crc32
        assert len(zlib.decompress(stored, wbits=31)) == entry.raw_length


def test_opening_reads_the_preamble_and_the_header_only():
    data = whole(SECTIONS)
    asked = []

    def read_range(offset, length):
        asked.append((offset, length))
        return data[offset : offset + length]

    GraphFile(Source("memory.pb", len(data), "", read_range))
    assert len(asked) == 2
    assert sum(length for _, length in asked) < opened(data).index.sections["summary"].offset + 1


@pytest.mark.parametrize("kept", [0, 5])
def test_a_file_that_is_something_else_is_called_so(kept):
    with pytest.raises(GraphFileError) as caught:
        opened(b"\x08\x01saved_model"[: kept * 3])
    assert caught.value.code == "not_a_graph_file"


def test_a_file_cut_anywhere_is_called_truncated_on_opening():
    data = whole(SECTIONS)
    for size in range(1, len(data)):
        with pytest.raises(GraphFileError) as caught:
            opened(data[:size])
        assert caught.value.code == "truncated", size
        assert "memory.pb" in caught.value.en and "memory.pb" in caught.value.zh


def test_no_changed_byte_goes_unseen():
    data = whole(SECTIONS)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 0x20
        with pytest.raises(GraphFileError):
            file = opened(bytes(changed))
            for name in file.index.sections:
                file.raw(name)


def test_a_newer_major_version_is_refused_by_name():
    def newer(header):
        header.major, header.tool = 9, "tb_graph_ascend 99"

    with pytest.raises(GraphFileError, match=r"version 9.*tb_graph_ascend 99.*up to version 1"):
        opened(with_header(newer))


def test_a_newer_minor_version_is_read():
    assert opened(with_header(lambda header: setattr(header, "minor", 7))).raw("summary") == b"first"


def test_a_section_that_is_packed_in_an_unknown_way_is_as_good_as_absent():
    data = with_header(lambda header: setattr(header.sections[0], "encoding", 9))
    assert "summary" not in opened(data).index.sections


def test_a_section_twice_is_damage():
    with pytest.raises(GraphFileError, match="there twice"):
        opened(with_header(lambda header: setattr(header.sections[0], "name", "empty")))


def test_a_section_that_unpacks_to_another_length_is_damage():
    data = with_header(lambda header: setattr(header.sections[0], "raw_length", 3))
    with pytest.raises(GraphFileError, match="does not unpack to 3 bytes"):
        opened(data).raw("summary")


def test_a_section_that_is_not_there_is_named():
    with pytest.raises(GraphFileError, match='no section "verdicts"'):
        opened(whole(SECTIONS)).raw("verdicts")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "rank0.pb"
    path.write_bytes(b"old")

    def failing():
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        container.write_atomically(str(path), failing())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["rank0.pb"]


def test_a_written_file_has_the_permissions_that_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        container.write_atomically(str(tmp_path / "rank0.pb"), [b"x"])
    finally:
        os.umask(before)
    assert (tmp_path / "rank0.pb").stat().st_mode & 0o777 == 0o644


def test_few_raw_sections_are_alive_at_a_time():
    alive, most, lock = 0, 0, threading.Lock()

    class Raw(bytes):
        def __del__(self):
            nonlocal alive
            with lock:
                alive -= 1

    def sections():
        nonlocal alive, most
        for i in range(100):
            with lock:
                alive += 1
                most = max(most, alive)
            yield f"{i}", Raw(b"x" * 1000)

    for _ in container.container_chunks("tool", sections(), threads=2):
        pass
    assert most <= 10


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(GraphFileError, match="cannot be read"):
        open_graph(str(tmp_path / "none.pb"))


def test_a_remote_file_is_read_by_ranges():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/logs/rank0.pb", whole(SECTIONS))
    file = open_graph("memory://logs/rank0.pb")
    assert file.raw("tensors/target/0") == b"x" * 5000
    with pytest.raises(GraphFileError, match=r"memory://logs/none\.pb"):
        open_graph("memory://logs/none.pb")


def test_the_example_of_the_documentation_opens():
    with open(os.path.join(os.path.dirname(__file__), "..", "docs", "graph_file.md"), encoding="utf-8") as page:
        lines = [line.split("  ", 1)[1] for line in page if re.match(r"00[0-9a-f]0  ", line)]
    summary = opened(bytes.fromhex("".join(lines))).summary()
    assert (summary.step, summary.rank, summary.mode, summary.micro_steps) == (3, 1, "structure", 1)
