"""Opens a graph file by its header and reads sections when asked. Light: needs neither numpy nor the rest of the converter."""

from __future__ import annotations

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from converter.graphfile import errors, graph_pb2
from converter.graphfile.container import Index, decode_stored, read_index, read_stored
from converter.graphfile.source import Source, open_source

MessageType = TypeVar("MessageType", bound=Message)


class GraphFile:
    """One graph file, opened by its header. Every method that reads raises GraphFileError; nothing is held open."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.index: Index = read_index(source.read_range, source.size, source.name)

    def stored(self, section: str) -> bytes:
        """The section's bytes as they lie in the file (gzip in all files of version 1.0), checked by their checksum."""
        entry = self.index.sections.get(section)
        if entry is None:
            raise errors.no_such_section(self.source.name, section)
        return read_stored(self.source.read_range, entry, self.source.name)

    def raw(self, section: str) -> bytes:
        """The section's protobuf message, still serialised."""
        stored = self.stored(section)
        return decode_stored(stored, self.index.sections[section], self.source.name)

    def message(self, section: str, kind: type[MessageType]) -> MessageType:
        """The section as a message of proto/graph.proto."""
        raw = self.raw(section)
        message = kind()
        try:
            message.ParseFromString(raw)
        except DecodeError:
            raise errors.damaged(self.source.name, f"section \"{section}\" is no {kind.__name__} message",
                                 f"分区 \"{section}\" 不是 {kind.__name__} 消息") from None
        return message

    def blocks(self, prefix: str, kind: type[MessageType]) -> list[MessageType]:
        """The sections {prefix}/0, {prefix}/1, … in order."""
        found: list[MessageType] = []
        while f"{prefix}/{len(found)}" in self.index.sections:
            found.append(self.message(f"{prefix}/{len(found)}", kind))
        return found

    def summary(self) -> graph_pb2.Summary:
        return self.message("summary", graph_pb2.Summary)


def open_graph(path: str) -> GraphFile:
    """Opens a local path or an address of fsspec. Raises GraphFileError."""
    return GraphFile(open_source(path))
