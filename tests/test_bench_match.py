"""Scoring of matches: what is wanted, what counts as right, and dumps whose names say nothing."""

from __future__ import annotations

import glob
import os
import re

import pytest

from bench.match_score import DUMPS, TABLES, read_graph, score
from bench.match_truth import TruthError, module_calls, read_truth, rename_paths, wanted_links
from bench.neutral_names import neutral_copy
from converter.match.assemble import assemble
from converter.match.pairing import How, Pair, Relation

MEGATRON = os.path.join(DUMPS, "megatron_vs_hf", "megatron_L0", "step0", "rank0")
HUGGING_FACE = os.path.join(DUMPS, "megatron_vs_hf", "hf_L0", "step0", "rank0")


@pytest.fixture(scope="module")
def truth():
    return read_truth(os.path.join(os.path.dirname(TABLES), "megatron_vs_hf.yaml"))


@pytest.fixture(scope="module")
def graphs():
    return read_graph(MEGATRON), read_graph(HUGGING_FACE)


def scored(truth, graphs, links):
    target, golden = graphs
    pairs = [Pair((a,), (b,), Relation.SAME, How.FUZZY, 1.0, "") for a, b in sorted(links)]
    return score(truth, target, golden, assemble(target.tree.count, golden.tree.count, pairs), 0.0, ("", ""), "")


def one_each(links):
    """Links of which no two share a node."""
    chosen, taken, taken_golden = [], set(), set()
    for a, b in sorted(links):
        if a not in taken and b not in taken_golden:
            chosen.append((a, b))
            taken.add(a)
            taken_golden.add(b)
    return chosen


@pytest.mark.parametrize("file", sorted(glob.glob(TABLES)), ids=os.path.basename)
def test_every_table_is_free_of_double_entries_and_names_dumps_that_exist(file):
    truth = read_truth(file)
    assert truth.pairs
    assert [side for pair in truth.pairs for side in pair if not os.path.isdir(os.path.join(DUMPS, side))] == []


def test_a_path_with_two_entries_is_refused(tmp_path):
    (tmp_path / "table.yaml").write_text("pairs: []\nmodules: {a: x, b: x}\n", encoding="utf-8")
    with pytest.raises(TruthError, match="x has two entries"):
        read_truth(str(tmp_path / "table.yaml"))


def test_a_layer_stands_for_every_layer_and_a_fused_module_for_all_its_parts(truth):
    parts = truth.wanted["0", "decoder", "layers", "3", "self_attention", "linear_qkv"]
    assert [".".join(part) for part in parts] == [f"model.layers.3.self_attn.{name}_proj" for name in "qkv"]


def test_a_table_that_lacks_a_module_of_the_dump_is_refused(truth, graphs):
    del truth.wanted["0", "rotary_pos_emb"]
    try:
        with pytest.raises(TruthError, match=r"target module 0\.rotary_pos_emb is in the dump but not in the table"):
            scored(truth, graphs, [])
    finally:
        truth.wanted["0", "rotary_pos_emb"] = [("model", "rotary_emb")]


def test_nothing_found_is_no_recall_and_nothing_wrong(truth, graphs):
    result = scored(truth, graphs, [])
    assert (result.found, result.recall, result.precision, result.wrong) == (0, 0.0, 1.0, [])
    assert len(result.missing) == result.wanted > 100


def test_right_wrong_and_open_links_are_told_apart(truth, graphs):
    target, golden = (module_calls(graph.tree) for graph in graphs)
    right = one_each(wanted_links(truth.wanted, target, golden))
    left_open = one_each(wanted_links(truth.open, target, golden))
    (wrong, *_), (golden_alone, *_) = (calls[key].values() for calls, key in (
        (target, (("0", "decoder", "layers", "0", "cross_attention"), "1")), (golden, (("model", "layers", "0", "mlp", "act_fn"), "1"))))
    result = scored(truth, graphs, [*right, *left_open, (wrong, golden_alone)])
    assert left_open
    assert (result.right, result.found) == (len(right), len(right) + 1)
    assert [re.sub(r"\s+", " ", text) for text in result.wrong] == [
        "Module.0.decoder.layers.0.cross_attention.IdentityOp.forward.0 ~ Module.model.layers.0.mlp.act_fn.SiLUActivation.forward.0"]


def test_forward_is_not_wanted_with_backward(truth, graphs):
    target, golden = (module_calls(graph.tree) for graph in graphs)
    trees = [graph.tree for graph in graphs]
    links = wanted_links(truth.wanted, target, golden)
    assert links
    assert all(trees[0].direction[a] == trees[1].direction[b] for a, b in links)


def test_a_neutral_copy_has_the_same_tree_and_no_name_of_the_model(tmp_path, graphs):
    words = neutral_copy(HUGGING_FACE, str(tmp_path / "rank0"))
    before, after = graphs[1].tree, read_graph(str(tmp_path / "rank0")).tree
    assert after.parent.tolist() == before.parent.tolist()
    assert {part for path in after.paths for part in path if not part.isdigit()} <= set(words.values())
    assert not set(words) & set(words.values())
    assert len(set(words.values())) == len(words)


def test_a_renamed_table_fits_the_renamed_dump(tmp_path, truth, graphs):
    words = neutral_copy(HUGGING_FACE, str(tmp_path / "rank0"))
    renamed = read_graph(str(tmp_path / "rank0"))
    table = rename_paths(truth, words, golden=True)
    target, golden = (module_calls(graph.tree) for graph in graphs)
    assert wanted_links(table.wanted, target, module_calls(renamed.tree)) == wanted_links(truth.wanted, target, golden)
