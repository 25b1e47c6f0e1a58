"""Makes a graph file several times as large, for measuring the viewer: the nodes of one file are repeated as further micro steps.

    python -m bench.tile_graph small.pb large.pb --times 10

Only what the opening view needs is written (summary, strings, topologies, pairs, verdicts); details are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from converter.graphfile import graph_pb2
from converter.graphfile.container import container_chunks, write_atomically
from converter.graphfile.file import GraphFile, open_graph

NO_CALL = -2147483648


def _tile_topology(message: graph_pb2.Topology, times: int) -> graph_pb2.Topology:
    """Node 0 stays the root; nodes 1.. are repeated behind it, each time as the next micro steps."""
    head = np.frombuffer(message.head, "<u4")
    delta = np.frombuffer(message.call_delta, "<i4")
    tail = np.frombuffer(message.tail, "<u4")
    micro = np.frombuffer(message.micro_step, "<u2")
    steps = int(micro.max(initial=0)) + 1
    # A call number goes on where the last repetition of the same head ended: only the first difference changes.
    first = np.zeros(len(head), bool)
    with_call = np.flatnonzero(delta != NO_CALL)
    first[with_call[np.unique(head[with_call], return_index=True)[1]]] = True
    later = np.where(first, 1, delta)

    def tile(column: np.ndarray) -> np.ndarray:
        return np.concatenate([column, np.tile(column[1:], times - 1)])

    result = graph_pb2.Topology(node_count=1 + (len(head) - 1) * times)
    result.depth = tile(np.frombuffer(message.depth, "<u2")).tobytes()
    result.head = tile(head).tobytes()
    result.call_delta = np.concatenate([delta, np.tile(later[1:], times - 1)]).astype("<i4").tobytes()
    result.tail = tile(tail).tobytes()
    for name in ("kind", "direction", "flags"):
        setattr(result, name, tile(np.frombuffer(getattr(message, name), np.uint8)).tobytes())
    result.micro_step = np.concatenate([micro] + [micro[1:] + steps * k for k in range(1, times)]).astype("<u2").tobytes()
    return result


def _tile_pairs(message: graph_pb2.Pairs, times: int, target_nodes: int, golden_nodes: int) -> graph_pb2.Pairs:
    """The pairs of each repetition join its own nodes. `*_nodes`: nodes of one repetition, without the root."""
    result = graph_pb2.Pairs(pair_count=message.pair_count * times, evidence_texts=message.evidence_texts)
    for side, nodes in (("target", target_nodes), ("golden", golden_nodes)):
        count = np.frombuffer(getattr(message, f"{side}_count"), "<u4")
        members = np.cumsum(np.frombuffer(getattr(message, f"{side}_delta"), "<i4").astype(np.int64))
        everything = np.concatenate([members + nodes * k for k in range(times)])
        setattr(result, f"{side}_count", np.tile(count, times).astype("<u4").tobytes())
        setattr(result, f"{side}_delta", np.diff(everything, prepend=0).astype("<i4").tobytes())
    for name in ("relation", "how", "confidence", "evidence"):
        setattr(result, name, getattr(message, name) * times)
    return result


def _sections(source: GraphFile, times: int) -> Iterator[tuple[str, bytes]]:
    target = source.message("topology/target", graph_pb2.Topology)
    golden = source.message("topology/golden", graph_pb2.Topology)
    summary = source.summary()
    summary.micro_steps = max(1, summary.micro_steps) * times
    yield "summary", summary.SerializeToString()
    yield "strings", source.raw("strings")
    yield "topology/target", _tile_topology(target, times).SerializeToString()
    yield "topology/golden", _tile_topology(golden, times).SerializeToString()
    pairs = source.message("pairs", graph_pb2.Pairs)
    yield "pairs", _tile_pairs(pairs, times, target.node_count - 1, golden.node_count - 1).SerializeToString()
    verdicts = source.message("verdicts", graph_pb2.Verdicts)
    tiled = graph_pb2.Verdicts(pair_count=verdicts.pair_count * times)
    for name in ("status", "cause", "error", "input_error", "parameter_error", "reasons"):
        setattr(tiled, name, getattr(verdicts, name) * times)
    yield "verdicts", tiled.SerializeToString()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("output")
    parser.add_argument("--times", type=int, default=10)
    arguments = parser.parse_args()
    sections = _sections(open_graph(arguments.source), arguments.times)
    size = write_atomically(arguments.output, container_chunks("bench.tile_graph", sections))
    print(f"{arguments.output}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
