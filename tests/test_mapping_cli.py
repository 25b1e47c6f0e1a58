"""graph-mapping: what it prints, what it writes, how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trees import model_tree, paths

from converter.dumps.reader import read_dump
from converter.mapping_cli import main
from converter.match.assemble import assemble
from converter.match.automatic import match_trees
from converter.match.mapping import match_by_mapping
from converter.match.mapping_file import parse_mapping, read_mapping
from converter.match.mapping_propose import propose_mapping
from converter.match.mapping_write import write_mapping
from converter.tree.build import build_tree
from converter.tree.columns import Tree
from converter.tree.graph import graph_of

DATA = str(Path(__file__).parent / "data" / "megatron_vs_hf") + os.sep
RANKS = str(Path(__file__).parent / "data" / "dist_tp2pp2") + os.sep
SIDES = ["-tp", DATA + "megatron", "-gp", DATA + "hf"]


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def write(tmp_path, text: str) -> str:
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


# ------------------------------------------------------------------------------------------------ lint

def test_lint_without_dumps_checks_the_file_alone(tmp_path, capsys) -> None:
    path = write(tmp_path, "A: {x: y}\n")
    assert run(capsys, "lint", path) == (0, f"{path}: 1 rules, no mistakes; give -tp and -gp to see what they hit\n", "")


def test_lint_names_a_mistake_and_ends_with_2(tmp_path, capsys) -> None:
    path = write(tmp_path, "A:\n  x: y\n  x: z\n")
    code, out, err = run(capsys, "lint", path)
    assert (code, out) == (2, "")
    assert err == f"graph-mapping: {path}, line 3, column 3: 'x' is used twice here, first in line 2: keep one of the two\n"


def test_lint_shows_what_each_rule_hit_and_what_is_left(tmp_path, capsys) -> None:
    path = write(tmp_path, "TopLayer:\n  0.decoder.layers: model.layers\nTransformerLayer:\n  self_attention: self_attn\n  mlp: ffn\n")
    code, out, err = run(capsys, "lint", path, *SIDES)
    assert code == 0 and not err
    assert "     4        8       " in out and "TransformerLayer.self_attention: self_attn" in out
    assert f"warning: {path}, line 5: the rule hit nothing: 'mlp' is there, but nothing pairs with 'ffn' below model.layers.0" in out
    assert "target: 28 of 172 module calls paired (16.3 %), left:" in out and "× IdentityOp, such as Module.0.decoder.layers.0." in out


def test_lint_counts_over_all_ranks(tmp_path, capsys) -> None:
    path = write(tmp_path, "TopLayer: {}\n")
    code, out, _ = run(capsys, "lint", path, "-tp", RANKS + "target", "-gp", RANKS + "golden")
    assert code == 0 and "0 rules on 4 pairs of graphs" in out and "(100.0 %)" in out


def test_lint_refuses_a_class_that_no_rank_has(tmp_path, capsys) -> None:
    path = write(tmp_path, "TransfomerLayer: {self_attention: self_attn}\n")
    code, _, err = run(capsys, "lint", path, *SIDES)
    assert code == 2 and err == (f"graph-mapping: {path}, line 1, column 1: class 'TransfomerLayer' occurs on neither side: "
                                 "did you mean 'TransformerLayer'?\n")


def test_lint_wants_both_dumps_or_neither(tmp_path, capsys) -> None:
    code, _, err = run(capsys, "lint", write(tmp_path, "A: {x: y}"), "-tp", DATA + "hf")
    assert (code, err) == (2, "graph-mapping: give both -tp and -gp, or neither\n")


# ------------------------------------------------------------------------------------------------ invert

def test_invert_writes_the_other_direction(tmp_path, capsys) -> None:
    out = tmp_path / "back.yaml"
    assert run(capsys, "invert", "megatron_core_to_hf_qwen2", "-o", str(out))[0] == 0
    mine, other = (build_tree(read_dump(f"{DATA}{side}/step0/rank0")) for side in ("megatron", "hf"))
    forth = match_by_mapping(mine, other, read_mapping("megatron_core_to_hf_qwen2"))
    back = match_by_mapping(other, mine, read_mapping(str(out)))
    assert {(pair.golden, pair.target) for pair in back.pairs()} == {(pair.target, pair.golden) for pair in forth.pairs()}


def test_invert_looks_class_names_up_in_the_dumps(tmp_path, capsys) -> None:
    path = write(tmp_path, "TopLayer: {0.decoder.layers: model.layers}\nTransformerLayer: {self_attention: self_attn}\n")
    assert "Qwen2DecoderLayer:\n  self_attn: self_attention\n" in run(capsys, "invert", path, *SIDES)[1]


def test_invert_names_the_rules_that_it_cannot_invert(tmp_path, capsys) -> None:
    code, out, err = run(capsys, "invert", write(tmp_path, "A:\n  x: y\n  z: w\n"))
    assert (code, out) == (2, "")
    assert "rule A.x (line 2), rule A.z (line 3) cannot be inverted: the counterpart of class 'A' is not known" in err
    assert "'invert: true'" in err


# ------------------------------------------------------------------------------------------------ templates

def test_templates_are_listed_with_what_they_are_for(capsys) -> None:
    code, out, _ = run(capsys, "templates")
    assert code == 0 and len(out.splitlines()) >= 13
    listed = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert listed["megatron_core_to_hf_llama"] == "Llama 2 / 3, dense: Megatron-Core → Hugging Face transformers"


def test_a_template_is_printed_by_name(capsys) -> None:
    code, out, _ = run(capsys, "templates", "megatron_core_to_hf_llama.yaml")
    assert code == 0 and parse_mapping(out, "printed").rules


def test_a_misspelt_template_gets_a_suggestion(capsys) -> None:
    code, _, err = run(capsys, "templates", "megatron_core_to_hf_lama")
    assert code == 2 and "did you mean 'megatron_core_to_hf_llama'?" in err


# ------------------------------------------------------------------------------------------------ propose

@pytest.mark.parametrize(("target", "golden"), [("megatron", "hf"), ("hf", "megatron"), ("megatron", "deepspeed"), ("deepspeed", "hf")])
def test_propose_writes_what_automatic_matching_found(tmp_path, capsys, target: str, golden: str) -> None:
    out = tmp_path / "map.yaml"
    code, _, err = run(capsys, "propose", "-tp", DATA + target, "-gp", DATA + golden, "-o", str(out))
    assert (code, err) == (0, "")
    mine, other = (read_dump(f"{DATA}{side}/step0/rank0") for side in (target, golden))
    trees = build_tree(mine), build_tree(other)
    wanted = match_trees(graph_of(mine, trees[0]), graph_of(other, trees[1]))
    found = match_by_mapping(*trees, read_mapping(str(out)), unruled_apis=False)
    is_module = (trees[0].kind == 1) | (trees[0].kind == 4)
    paired = wanted.pair_of_target >= 0
    assert {node for pair in found.pairs() for node in pair.target} == set((is_module & paired).nonzero()[0].tolist())


def test_a_proposal_is_in_the_peers_format_where_that_can_say_it(capsys) -> None:
    text = "\n".join(line.split("  #")[0] for line in run(capsys, "propose", *SIDES)[1].splitlines() if not line.startswith("#"))
    assert "TransformerLayer:\n  self_attention: self_attn\n  pre_mlp_layernorm: post_attention_layernorm\n" in text
    assert "scopes" not in text and "*" not in text and "{" not in text


def proposal(target: Tree, golden: Tree, mapping_text: str) -> str:
    """What is proposed from the pairs that a mapping makes."""
    pairs = match_by_mapping(target, golden, parse_mapping(mapping_text, "given"), unruled_apis=False).pairs()
    found = propose_mapping(target, golden, assemble(target.count, golden.count, pairs))
    assert not found.missing and not found.added and found.agreed == len(pairs)
    text = write_mapping(found.mapping)
    again = match_by_mapping(target, golden, parse_mapping(text, "proposed"), unruled_apis=False)
    assert paths(target, golden, again.pairs()) == paths(target, golden, pairs)
    return text


def test_instances_of_a_class_that_differ_get_their_paths() -> None:
    target = model_tree([("v", "T"), ("v.l", "Layer"), ("v.l.attention", "A"), ("t", "T"), ("t.l", "Layer"), ("t.l.attention", "A")])
    golden = model_tree([("v", "T"), ("v.l", "V"), ("v.l.attn", "A"), ("t", "T"), ("t.l", "D"), ("t.l.self_attn", "A")])
    text = proposal(target, golden, "Layer: {attention: attn}\nscopes: [{path: t.**, class: Layer, rules: {attention: self_attn}}]")
    assert text == ("Layer:\n  attention: attn\nscopes:\n  - path: TopLayer.t.l\n    class: Layer\n    rules:\n"
                    "      attention: self_attn\n")


def test_shifted_layers_are_proposed_one_by_one() -> None:
    target = model_tree([("m", "M"), *[(f"m.layers.{i}", "B") for i in range(3)]])
    golden = model_tree([("m", "M"), *[(f"m.blocks.{i + 5}", "B") for i in range(3)]])
    text = proposal(target, golden, "M: {'layers.{i}': 'blocks.{i+5}'}")
    assert '"0": "5"' in text and "{i}" not in text


def test_pairs_of_equal_names_need_no_rules() -> None:
    tree = model_tree([("a", "A"), ("a.x", "L")])
    assert proposal(tree, tree, "TopLayer: {}") == "{}\n"


def test_a_proposal_without_rules_is_a_file_all_the_same(tmp_path, capsys) -> None:
    out = tmp_path / "map.yaml"
    assert run(capsys, "propose", "-tp", DATA + "hf", "-gp", DATA + "hf", "-o", str(out))[0] == 0
    assert read_mapping(str(out)).rules == ()


# ------------------------------------------------------------------------------------------------ the process

def test_the_command_ends_with_one_sentence_and_no_traceback(tmp_path) -> None:
    command = [sys.executable, "-m", "converter.mapping_cli", "lint", str(tmp_path / "none.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "does not exist" in done.stderr


def test_usage_errors_end_with_2() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["nonsense"])
    assert caught.value.code == 2
