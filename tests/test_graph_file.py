"""The graph file: both sides, pairs, rows and verdicts come back from the file alone, exactly or as documented."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from graph_contents import build_content, compare_content, real_side
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from converter.dumps.columns import PRESENT_EXACT, LeafKind, Leaves, Role
from converter.graphfile import container, graph_pb2, topology
from converter.graphfile.content import GraphContent, GraphSide
from converter.graphfile.errors import GraphFileError
from converter.graphfile.file import GraphFile, open_graph
from converter.graphfile.reader import read_comparison, read_pairing, read_side
from converter.graphfile.tensors import BLOCK_NODES, decode_tensor_blocks, encode_tensor_blocks
from converter.graphfile.writer import graph_chunks

HF, MEGATRON = "megatron_vs_hf/hf/step0/rank0", "megatron_vs_hf/megatron/step0/rank0"
REAL = [HF, MEGATRON, "mindspore_vs_torch/mindspore/step0/rank0", "qwen2_24l_L0_md5/target/step0/rank0", "dist_tp2pp2/target/step0/rank3",
        "qwen2_24l_mix_stat/target/step0/rank0", "qwen2_24l_mix_struct/golden/step0/rank0"]
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture(scope="module")
def compare() -> GraphContent:
    return compare_content(MEGATRON, HF)


@pytest.fixture(scope="module")
def file(compare, tmp_path_factory) -> GraphFile:
    path = str(tmp_path_factory.mktemp("graph") / "rank0.pb")
    assert container.write_atomically(path, graph_chunks(compare)) == os.path.getsize(path)
    return open_graph(path)


def rows(side: GraphSide, node: int) -> list[tuple[object, ...]]:
    """Everything about a node's leaves, with ids replaced by what they mean."""
    leaves = side.leaves
    found = []
    for row in range(int(side.row_start[node]), int(side.row_end[node])):
        texts = [leaves.strings[i] if (i := int(getattr(leaves, name)[row])) >= 0 else None
                 for name in ("name", "type", "dtype", "value", "checksum", "data_name")]
        shape = leaves.shapes[leaves.shape[row]] if leaves.shape[row] >= 0 else None
        present = int(leaves.present[row])
        statistics = [value if present >> i & 1 else None for i, value in enumerate(map(repr, leaves.statistics[row].tolist()))]
        found.append((int(leaves.role[row]), int(leaves.kind[row]), *texts, shape, int(leaves.requires_grad[row]), present, *statistics,
                      leaves.exact.get(row)))
    return found


def assert_same_side(read: GraphSide, written: GraphSide) -> None:
    tree, other = read.tree, written.tree
    assert tree.names == other.names
    for column in ("parent", "depth", "end", "kind", "direction", "micro_step", "call", "flags"):
        np.testing.assert_array_equal(getattr(tree, column), getattr(other, column), column)
    for column, pool in (("path", "paths"), ("label", "labels"), ("prefix", "labels")):
        assert [getattr(tree, pool)[i] for i in getattr(tree, column)] == [getattr(other, pool)[i] for i in getattr(other, column)]
    assert tree.micro_steps == other.micro_steps
    np.testing.assert_array_equal(tree.dump_node < 0, other.dump_node < 0)
    for node in range(tree.count):
        assert rows(read, node) == rows(written, node)
        mine, theirs = int(read.stack[node]), int(written.stack[node])
        assert (read.stacks[mine] if mine >= 0 else None) == (written.stacks[theirs] if theirs >= 0 else None)
    assert read.origin == written.origin


@pytest.mark.parametrize("name", REAL)
def test_a_real_graph_comes_back_with_every_node_leaf_and_stack(name, tmp_path):
    content = build_content(name)
    path = str(tmp_path / "rank1.pb")
    container.write_atomically(path, graph_chunks(content))
    assert_same_side(read_side(open_graph(path), "target"), content.target)


def test_what_was_read_from_a_file_writes_the_same_file_again(compare, file):
    target, golden = read_side(file, "target"), read_side(file, "golden")
    again = replace(compare, target=target, golden=golden, pairing=read_pairing(file),
                    comparison=read_comparison(file, target, golden))
    written = b"".join(graph_chunks(again))
    assert written == file.source.read_range(0, file.source.size)


def test_a_build_has_no_golden_side_and_no_pairs(tmp_path):
    path = str(tmp_path / "rank1.pb")
    container.write_atomically(path, graph_chunks(build_content(HF)))
    file = open_graph(path)
    assert {name.split("/")[0] for name in file.index.sections} == {"summary", "strings", "topology", "dtypes", "tensors", "stacks"}
    summary = file.summary()
    assert not summary.HasField("golden") and (summary.step, summary.rank) == (3, 1)
    with pytest.raises(GraphFileError, match="topology/golden"):
        read_side(file, "golden")


def test_every_node_has_the_data_type_of_its_first_output_tensor(compare, file):
    message = file.message("dtypes/target", graph_pb2.NodeDtypes)
    side = compare.target
    assert len(message.dtype) == side.tree.count and set(message.names) >= {"torch.float32"}
    for node, number in enumerate(message.dtype):
        rows = range(int(side.row_start[node]), int(side.row_end[node]))
        tensors = [row for row in rows if side.leaves.kind[row] == LeafKind.TENSOR and side.leaves.dtype[row] >= 0]
        outputs = [row for row in tensors if side.leaves.role[row] in (Role.OUTPUT, Role.GRADIENT)]
        wanted = [side.leaves.strings[side.leaves.dtype[row]] for row in (outputs or tensors)[:1]]
        assert wanted == ([message.names[number - 1]] if number else [])


def test_the_pairing_comes_back_with_confidence_in_steps_of_a_255th(compare, file):
    read, written = read_pairing(file), compare.pairing
    for field in fields(written):
        mine, theirs = getattr(read, field.name), getattr(written, field.name)
        if field.name == "confidence":
            np.testing.assert_allclose(mine, theirs, atol=0.5 / 255)
        elif isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(mine, theirs, field.name)
        else:
            assert mine == theirs, field.name


def test_the_comparison_comes_back_with_composed_rows_metrics_and_layouts(compare, file):
    target, golden = read_side(file, "target"), read_side(file, "golden")
    read, written = read_comparison(file, target, golden), compare.comparison
    assert (read.rows, read.mode) == (written.rows, written.mode)
    np.testing.assert_array_equal(read.row_end, written.row_end)
    np.testing.assert_array_equal(read.errors, written.errors)
    np.testing.assert_array_equal(read.metrics["cosine"], written.metrics["cosine"])
    assert (read.layouts, read.unavailable) == (written.layouts, written.unavailable)
    np.testing.assert_array_equal(read.ambiguous, written.ambiguous)
    composed = read.golden_row[0]
    assert composed == golden.leaves.rows and read.golden_compositions[0].relation == "concat"
    assert read.golden.statistics[composed].tolist() == [4.0, -1.0, 0.1, 9.0]
    assert read.golden.shapes[read.golden.shape[composed]] == (7, 9)


def test_a_comparison_block_names_rows_by_node_and_ordinal(compare, file):
    block = file.message("comparisons/0", graph_pb2.ComparisonBlock)
    node, leaf = np.frombuffer(block.target_node, "<i4"), np.frombuffer(block.target_leaf, "<u4")
    written = compare.comparison.target_row
    at = np.flatnonzero(written >= 0)
    np.testing.assert_array_equal(compare.target.row_start[node[at]] + leaf[at], written[at])
    assert np.all(node[written < 0] == -1)
    assert list(block.compositions[0].leaf) == [0, 1] and block.compositions[0].golden
    last = block.row_count - 1
    assert [(note.row, dict(note.arguments)) for note in block.notes if note.code == 0] == [
        (last, {"statistic": "Norm", "target": "1", "golden": "2"})]


def test_verdicts_keep_infinite_and_missing_errors(compare, file):
    message = file.message("verdicts", graph_pb2.Verdicts)
    np.testing.assert_array_equal(np.frombuffer(message.error, "<f4"), compare.verdicts.error)
    np.testing.assert_array_equal(np.frombuffer(message.status, "u1"), compare.verdicts.status)


def test_the_summary_counts_what_the_columns_hold(compare, file):
    summary, pairing = file.summary(), compare.pairing
    assert summary.pairs.total == pairing.count == sum(
        getattr(summary.pairs, how) for how in ("exact", "mapping", "normalised", "fuzzy", "structural", "manual"))
    assert summary.status.error == np.count_nonzero(compare.verdicts.status == 3)
    assert summary.causes.introduced == np.count_nonzero(compare.verdicts.cause == 3)
    assert summary.target.nodes == compare.target.tree.count - 1
    assert summary.forward.target == compare.target.tree.names[3] and not summary.HasField("backward")
    assert list(summary.forward.golden) == compare.golden.tree.names[4:6]
    assert [reason.id for reason in summary.reasons] == ["statistics", "missing"]
    assert summary.mapping.name == "映射.yaml" and summary.provenance.inputs[0].crc32 == "00000abc"


def test_nodes_are_read_in_blocks(tmp_path):
    side = real_side("qwen2_24l_mix_stat/target/step0/rank0")
    blocks = list(encode_tensor_blocks(side))
    assert [block.first_node for block in blocks] == list(range(0, side.tree.count, BLOCK_NODES))
    assert sum(block.node_count for block in blocks) == side.tree.count


def test_statistics_of_float32_tensors_take_four_bytes_and_lose_nothing():
    side = real_side("qwen2_24l_mix_stat/target/step0/rank0")
    widths = {block.statistics_width for block in encode_tensor_blocks(side)}
    assert widths == {4}  # its numbers such as 1e-06 are no float32, but stand exactly in their texts


# ---------------------------------------------------------------- columns of any content

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def sides(draw) -> GraphSide:
    """The tree of a small real graph with any leaves whatever, in any order."""
    base = real_side("ms_cnn_mix_stat/target/step0/rank0")
    counts = np.array(draw(st.lists(st.integers(0, 3), min_size=base.tree.count, max_size=base.tree.count)), np.int64)
    total = int(counts.sum())
    strings = draw(st.lists(TEXT.filter(bool), min_size=1, max_size=5, unique=True))
    shapes = draw(st.lists(st.lists(st.integers(0, 2**40), max_size=3).map(tuple), min_size=1, max_size=4, unique=True))

    def ids(limit, low=-1):
        return hnp.arrays(np.int32, total, elements=st.integers(low, limit - 1))

    kind = draw(hnp.arrays(np.uint8, total, elements=st.sampled_from([LeafKind.TENSOR, LeafKind.TEXT, LeafKind.BOOL])))
    shape = np.where(kind == LeafKind.TENSOR, draw(ids(len(shapes))), -1).astype(np.int32)
    statistics = draw(hnp.arrays(np.float64, (total, 4), elements=st.floats(width=draw(st.sampled_from([32, 64])))))
    present = draw(hnp.arrays(np.uint8, total, elements=st.integers(0, 63)))
    exact = {int(row): ("1" * 30, "", "(1+2j)", "nan") for row in np.flatnonzero(present & PRESENT_EXACT)}
    leaves = Leaves(strings, draw(hnp.arrays(np.uint8, total, elements=st.integers(0, 4))), kind, draw(ids(len(strings))),
                    draw(ids(len(strings))), draw(ids(len(strings))), shape, shapes,
                    draw(hnp.arrays(np.uint8, total, elements=st.integers(0, 2))), present, statistics, draw(ids(len(strings))),
                    draw(ids(len(strings))), draw(ids(len(strings))), exact)
    order = draw(st.permutations(range(base.tree.count)))  # which node's rows lie first
    start = np.zeros(base.tree.count, np.int64)
    start[order] = np.cumsum(counts[order]) - counts[order]
    return replace(base, leaves=leaves, row_start=start, row_end=start + counts)


@settings(max_examples=30, deadline=None)
@given(sides())
def test_any_leaves_come_back(side):
    blocks = [graph_pb2.TensorBlock.FromString(block.SerializeToString()) for block in encode_tensor_blocks(side)]
    leaves, row_end, stack = decode_tensor_blocks(blocks)
    read = replace(side, leaves=leaves, row_start=np.append(0, row_end[:-1]), row_end=row_end, stack=stack)
    for node in range(side.tree.count):
        assert rows(read, node) == rows(side, node)


@pytest.mark.parametrize("text, number", [("1e-06", 1e-06), ("9007199254740993", 9007199254740992.0), ("nan", np.nan), ("-inf", -np.inf)])
def test_a_number_beside_float32_tensors_keeps_its_value(text, number):
    side = real_side("ms_cnn_mix_stat/target/step0/rank0")
    leaves = replace(side.leaves, strings=[*side.leaves.strings, text], kind=side.leaves.kind.copy(), value=side.leaves.value.copy(),
                     present=side.leaves.present.copy(), statistics=side.leaves.statistics.astype(np.float32).astype(np.float64))
    leaves.kind[0], leaves.value[0], leaves.present[0], leaves.statistics[0] = LeafKind.NUMBER, len(leaves.strings) - 1, 15, number
    blocks = list(encode_tensor_blocks(replace(side, leaves=leaves)))
    assert blocks[0].statistics_width == 4
    read, row_end, _ = decode_tensor_blocks(blocks)
    node = int(np.flatnonzero((side.row_start == 0) & (side.row_end > 0))[0])
    row = int(row_end[node - 1]) if node else 0
    np.testing.assert_array_equal(read.statistics[row], [number] * 4)


NAMES = st.sampled_from(["Module.a.B.forward.3", "Functional.linear.12.forward", "x.3.3", "a.007", "7", ".7", "", "层.1.forward", "a.-1",
                         "Module.a.parameters_grad"])


@given(st.lists(st.tuples(NAMES | TEXT, st.integers(-1, 13)), max_size=20))
def test_any_name_comes_back_whatever_its_call_is_said_to_be(pairs):
    names, calls = [name for name, _ in pairs], np.array([call for _, call in pairs], np.int32)
    table: dict[str, int] = {}
    head, call, tail = topology.split_names(names, calls, table)
    np.testing.assert_array_equal(topology.calls_from_deltas(head, topology.call_deltas(head, call)), call)
    strings = topology.decode_strings(topology.encode_strings(table))
    assert [strings[h] + (str(c) if c >= 0 else "") + strings[t] for h, c, t in zip(head, call, tail)] == names


def test_a_name_that_is_no_unicode_text_is_written_out():
    table: dict[str, int] = {}
    topology.split_names(["bad\ud800.1"], np.array([1], np.int32), table)
    assert "bad\\ud800." in topology.decode_strings(topology.encode_strings(table))


# ---------------------------------------------------------------- limits and damage


def test_a_graph_that_is_too_deep_for_the_format_is_refused():
    side = real_side("ms_cnn_mix_stat/target/step0/rank0")
    depth = side.tree.depth.copy()
    depth[-1] = 70_000
    with pytest.raises(ValueError, match="70000 levels deep"):
        topology.encode_topology(replace(side, tree=replace(side.tree, depth=depth)), {})


@pytest.mark.parametrize("section, kind, change", [
    ("topology/target", graph_pb2.Topology, lambda message: setattr(message, "depth", message.depth[:-2])),
    ("topology/target", graph_pb2.Topology, lambda message: setattr(message, "depth", b"\1\0" + message.depth[2:])),
    ("topology/target", graph_pb2.Topology, lambda message: setattr(message, "head", b"\xff\xff\xff\0" + message.head[4:])),
    ("tensors/target/0", graph_pb2.TensorBlock, lambda message: setattr(message, "name", b"\xff\xff\xff\0" + message.name[4:])),
    ("tensors/target/0", graph_pb2.TensorBlock, lambda message: setattr(message, "node_count", message.node_count - 1)),
    ("stacks/target", graph_pb2.Stacks, lambda message: message.ClearField("lines")),
])
def test_senseless_columns_are_damage_with_the_section_named(tmp_path, section, kind, change):
    path = str(tmp_path / "rank1.pb")
    container.write_atomically(path, graph_chunks(build_content("ms_cnn_mix_stat/target/step0/rank0")))
    written = open_graph(path)
    message = written.message(section, kind)
    change(message)
    sections = [(name, message.SerializeToString() if name == section else written.raw(name)) for name in written.index.sections]
    container.write_atomically(path, container.container_chunks("test", sections))
    with pytest.raises(GraphFileError, match=section.removesuffix("/0")) as caught:
        read_side(open_graph(path), "target")
    assert caught.value.code == "damaged"


def test_a_section_that_is_no_message_is_damage(tmp_path):
    path = str(tmp_path / "rank1.pb")
    container.write_atomically(path, container.container_chunks("test", [("summary", b"\xff\xff")]))
    with pytest.raises(GraphFileError, match="no Summary message"):
        open_graph(path).summary()


def test_opening_a_graph_file_needs_no_numpy():
    code = "import sys, converter.graphfile.file; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=TOP)


def test_the_generated_code_is_current_and_runs_on_the_oldest_protobuf_that_is_allowed(tmp_path):
    assert importlib.util.find_spec("grpc_tools"), "pip install '.[test]' brings grpcio-tools"
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", f"--python_out={tmp_path}", "proto/graph.proto"]
    subprocess.run(command, check=True, cwd=TOP)
    fresh = (tmp_path / "graph_pb2.py").read_text(encoding="utf-8")
    with open(graph_pb2.__file__, encoding="utf-8") as stream:
        committed = stream.read()
    descriptor = re.compile(r"AddSerializedFile\((b'.*')\)")
    assert descriptor.search(committed)[1] == descriptor.search(fresh)[1], "generate again with the command of docs/graph_file.md"
    assert "Protobuf Python Version: 6.31." in committed, "generate with the grpcio-tools version of docs/graph_file.md"
