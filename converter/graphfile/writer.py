"""What one graph file is written of: the order of its sections, each made by the module named after it."""

from __future__ import annotations

from collections.abc import Iterator

from converter.graphfile.comparisons import encode_comparison_blocks
from converter.graphfile.container import container_chunks
from converter.graphfile.content import GraphContent
from converter.graphfile.dtypes import encode_dtypes
from converter.graphfile.pair_errors import SECTION as ERRORS
from converter.graphfile.pair_errors import encode_output_errors
from converter.graphfile.pairs import encode_pairs, encode_verdicts
from converter.graphfile.summary import encode_summary
from converter.graphfile.tensors import encode_stacks, encode_tensor_blocks
from converter.graphfile.topology import encode_strings, encode_topology


def graph_chunks(content: GraphContent, threads: int | None = None) -> Iterator[bytes]:
    """The bytes of the graph file in order; equal content gives equal bytes. `threads` compress (default: one a core).

    Raises ValueError where a number does not fit the format (more than 65,535 levels or micro steps).
    """
    return container_chunks(content.provenance.tool, _sections(content), threads)


def _sections(content: GraphContent) -> Iterator[tuple[str, bytes]]:
    yield "summary", encode_summary(content).SerializeToString(deterministic=True)
    sides = [("target", content.target)]
    if content.golden is not None:
        sides.append(("golden", content.golden))
    table: dict[str, int] = {}
    topologies = [(name, encode_topology(side, table).SerializeToString()) for name, side in sides]
    yield "strings", encode_strings(table).SerializeToString()
    for name, topology in topologies:
        yield f"topology/{name}", topology
    if content.pairing is not None:
        yield "pairs", encode_pairs(content.pairing).SerializeToString()
    if content.verdicts is not None:
        yield "verdicts", encode_verdicts(content.verdicts).SerializeToString()
    if content.comparison is not None and content.verdicts is not None and content.golden is not None:
        for k, block in enumerate(encode_comparison_blocks(content.comparison, content.verdicts, content.target, content.golden)):
            yield f"comparisons/{k}", block.SerializeToString(deterministic=True)
        yield ERRORS, encode_output_errors(content.comparison, content.verdicts).SerializeToString()
    for name, side in sides:
        for k, tensors in enumerate(encode_tensor_blocks(side)):
            yield f"tensors/{name}/{k}", tensors.SerializeToString()
        yield f"dtypes/{name}", encode_dtypes(side).SerializeToString()
        yield f"stacks/{name}", encode_stacks(side.stacks).SerializeToString()
