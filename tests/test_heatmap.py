"""GET heatmap: the elements of one row, read from the dumps beside the graph file or refused with a reason."""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_plugin import Server, body, graph_query

from converter import cli
from converter.graphfile import graph_pb2
from converter.graphfile.columns import I32, U32, unpack
from converter.graphfile.file import open_graph

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "megatron_vs_hf")
QKV = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of two dumps with tensor files, converted: "logs" beside "target" and "golden"."""
    folder = tmp_path_factory.mktemp("heatmap")
    shutil.copytree(os.path.join(DATA, "megatron_tensor_bug_qkv_bias_layer2"), folder / "target")
    shutil.copytree(os.path.join(DATA, "hf_tensor_layer2"), folder / "golden")
    assert cli.main(["-tp", str(folder / "target"), "-gp", str(folder / "golden"), "-o", str(folder / "logs")]) == 0
    return folder


def ask(folder: Path, **query: Any) -> Any:
    server = Server(folder / "logs")
    name, = server.names()
    return server.request("/heatmap", query=graph_query(name, **query))


def place_of(folder: Path, node_name: str, role: int) -> dict[str, int]:
    """Pair and row of the first leaf of that role of the target node, as the request counts them."""
    path, = (folder / "logs").glob("*/step0/rank0.pb")
    file = open_graph(str(path))
    topology, strings = file.message("topology/target", graph_pb2.Topology), file.message("strings", graph_pb2.Strings)
    ends = np.frombuffer(strings.end, "<u4").tolist()
    texts = [strings.utf8[start:end].decode() for start, end in zip([0, *ends], ends)]
    node = [texts[head] for head in np.frombuffer(topology.head, "<u4")].index(node_name.rpartition("0")[0])
    block, tensors = file.message("comparisons/0", graph_pb2.ComparisonBlock), file.message("tensors/target/0", graph_pb2.TensorBlock)
    nodes, leaves = unpack(block.target_node, I32, block.row_count), unpack(block.target_leaf, U32, block.row_count)
    first = int(unpack(tensors.row_end, U32, tensors.node_count)[node - 1])
    row = next(row for row in np.flatnonzero(nodes == node).tolist() if tensors.role[first + int(leaves[row])] == role)
    row_end = unpack(block.row_end, U32, block.pair_count)
    pair = int(np.searchsorted(row_end, row, side="right"))
    return {"pair": pair, "row": row - (int(row_end[pair - 1]) if pair else 0)}


def test_the_map_of_a_fused_output_shows_where_it_differs(run: Path) -> None:
    answer = body(ask(run, **place_of(run, QKV, graph_pb2.ROLE_OUTPUT)))
    assert answer["shape"] == [16, 1, 128]
    cells = np.frombuffer(base64.b64decode(answer["largest"]), "<f4").reshape(len(answer["row_start"]) - 1, -1)
    assert cells.shape == (16, 128)
    # A wrong bias is the same in every token: columns differ, rows do not.
    assert np.allclose(cells, cells[0], atol=1e-5) and cells.max() > 0.01
    at = answer["worst"]["index"]
    assert cells[at[0], at[2]] == pytest.approx(abs(float(answer["worst"]["target"]) - float(answer["worst"]["golden"])), rel=1e-5)
    assert answer["scale"] > 0 and answer["layout"].startswith("golden ")


def test_a_weight_that_agrees_has_an_empty_map(run: Path) -> None:
    answer = body(ask(run, **place_of(run, QKV, graph_pb2.ROLE_PARAMETER)))
    assert np.frombuffer(base64.b64decode(answer["largest"]), "<f4").max() == 0.0


@pytest.mark.parametrize(("query", "status", "code"), [
    ({"pair": 0, "row": 999}, 400, "bad_request"),
    ({"pair": 0}, 400, "bad_request"),
    ({"pair": 999_999, "row": 0}, 404, "no_such_section"),
    ({"pair": -1, "row": 0}, 400, "bad_request"),
])
def test_what_is_not_there_is_refused(run: Path, query: dict[str, int], status: int, code: str) -> None:
    response = ask(run, **query)
    assert (response.status_code, body(response)["error"]["code"]) == (status, code)


def test_a_missing_tensor_file_is_named(run: Path, tmp_path: Path) -> None:
    place = place_of(run, QKV, graph_pb2.ROLE_OUTPUT)
    files = list((run / "golden").rglob("*q_proj.Linear.forward.0.output.0.pt"))
    assert files
    for file in files:
        file.rename(file.with_suffix(".away"))
    error = body(ask(run, **place))["error"]
    for file in files:
        file.with_suffix(".away").rename(file)
    assert error["code"] == "tensor" and files[0].name in error["en"] and "golden" in error["en"]


def test_without_the_dumps_the_answer_says_so(run: Path) -> None:
    place = place_of(run, QKV, graph_pb2.ROLE_OUTPUT)
    (run / "golden").rename(run / "moved")
    response = ask(run, **place)
    (run / "moved").rename(run / "golden")
    assert (response.status_code, body(response)["error"]["code"]) == (404, "no_tensor_files")
