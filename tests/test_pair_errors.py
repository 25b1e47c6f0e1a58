"""Section "errors/outputs": the largest error of each statistic among a pair's outputs."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tensorboard_process import TOP

from converter.cli import main
from converter.dumps.columns import MAX, NORM, Role
from converter.graphfile import graph_pb2
from converter.graphfile.columns import F32, unpack
from converter.graphfile.file import GraphFile, open_graph
from converter.graphfile.pair_errors import AS_THE_PAIR, SECTION
from converter.graphfile.reader import read_comparison, read_pairing, read_side

DATA = os.path.join(TOP, "tests", "data", "megatron_vs_hf")


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> GraphFile:
    output = tmp_path_factory.mktemp("bug")
    assert main(["-tp", f"{DATA}/megatron_bug_qkv_bias", "-gp", f"{DATA}/hf", "-o", str(output)]) in (0, 1)
    return open_graph(str(next(output.glob("*/step0/rank0.pb"))))


def columns(file: GraphFile) -> dict[str, np.ndarray]:
    """Name of a statistic → [pairs], with what stands for the pair's own error put back."""
    message = file.message(SECTION, graph_pb2.PairErrors)
    count = message.pair_count
    own = unpack(file.message("verdicts", graph_pb2.Verdicts).error, F32, count)
    found = {name: unpack(getattr(message, name), F32, count) for name in ("max", "min", "mean", "norm")}
    return {name: np.where(column == AS_THE_PAIR, own, column) for name, column in found.items()}


def test_no_statistic_of_a_clean_pair_differs_and_the_wrong_ones_do(file):
    message = file.message("verdicts", graph_pb2.Verdicts)
    error = unpack(message.error, F32, message.pair_count)
    stack = np.stack(list(columns(file).values()))
    known = ~np.isnan(error)
    assert (np.isnan(stack).all(0) == ~known).all()
    largest = np.nanmax(np.where(known, stack, 0), axis=0)
    assert (largest[known] >= error[known]).all()  # the pair's error is that of one of the statistics
    assert ((stack == error).any(0) | ~known).mean() > 0.95
    assert (largest[error == 0] < 1e-6).all()


def test_they_follow_from_the_statistics_of_the_outputs(file):
    target, golden = read_side(file, "target"), read_side(file, "golden")
    pairing, comparison = read_pairing(file), read_comparison(file, target, golden)
    name = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"
    pair = int(pairing.pair_of_target[target.tree.names.index(name)])
    rows = [row for row in comparison.rows_of(pair) if comparison.target.role[comparison.target_row[row]] == Role.OUTPUT
            and comparison.golden_row[row] >= 0]
    assert rows
    for statistic, column in ((MAX, "max"), (NORM, "norm")):
        assert columns(file)[column][pair] == np.float32(np.nanmax([comparison.errors[row, statistic] for row in rows]))


def test_a_single_graph_has_none(tmp_path):
    assert main(["-tp", f"{DATA}/hf", "-o", str(tmp_path)]) == 0
    assert SECTION not in open_graph(str(next(tmp_path.glob("*/step0/rank0.pb")))).index.sections
