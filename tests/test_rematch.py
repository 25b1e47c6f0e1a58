"""Matching again from a graph file alone: the same answer as graph-convert gives, for the same mapping, matches and policy."""

from __future__ import annotations

import base64
import gzip
import json
import os
import shutil

import pytest
from plugin_server import Server, body

from converter.cli import main
from converter.graphfile import graph_pb2
from converter.graphfile.file import open_graph
from converter.graphfile.reader import read_side
from tb_graph_ascend import post_rematch as server_side
from tb_graph_ascend.rematch_process import method_of, proposed, rematched

DATA = os.path.join(os.path.dirname(__file__), "data")
MEGATRON = os.path.join(DATA, "megatron_vs_hf")
QKV = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"
O_PROJ = "Module.model.layers.2.self_attn.o_proj.Linear.forward.0"
Q_PROJ = "Module.model.layers.2.self_attn.q_proj.Linear.forward.0"
K_PROJ = "Module.model.layers.2.self_attn.k_proj.Linear.forward.0"
V_PROJ = "Module.model.layers.2.self_attn.v_proj.Linear.forward.0"


def convert(folder, *options, target="megatron_bug_qkv_bias", golden="hf"):
    """The graph file of one conversion."""
    output = str(folder)
    assert main(["-tp", os.path.join(MEGATRON, target), "-gp", os.path.join(MEGATRON, golden), "-o", output, *options]) == 0
    run, = (entry for entry in os.listdir(output) if entry.startswith("compare_"))
    return os.path.join(output, run, "step0", "rank0.pb")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return convert(tmp_path_factory.mktemp("plain"))


def unpacked(answer):
    """Section name → message of an answer."""
    return {name: gzip.decompress(base64.b64decode(data)) for name, data in {**answer["sections"], **answer["comparisons"]}.items()}


def stored(path):
    file = open_graph(path)
    changing = ("summary", "pairs", "verdicts", "comparisons", "errors")
    return {name: file.raw(name) for name in file.index.sections if name.partition("/")[0] in changing}


def without_provenance(sections):
    """Command and time differ between two conversions; so does what names the file of the matches."""
    summary = graph_pb2.Summary.FromString(sections["summary"])
    summary.ClearField("provenance")
    pairs = graph_pb2.Pairs.FromString(sections["pairs"])
    pairs.ClearField("evidence_texts")
    pairs.ClearField("evidence_messages")
    return {**sections, "summary": summary.SerializeToString(deterministic=True), "pairs": pairs.SerializeToString(deterministic=True)}


@pytest.mark.parametrize("options", [[], ["-lm", "megatron_core_to_hf_qwen2"], ["--policy", "msprobe"]])
def test_asked_for_nothing_new_it_gives_the_sections_of_the_file_byte_for_byte(tmp_path, options):
    path = convert(tmp_path, *options)
    assert unpacked(rematched({"path": path})) == stored(path)


def test_of_other_dumps_too(tmp_path):
    for number, (target, golden) in enumerate([("qwen2_24l_mix_stat/target", "qwen2_24l_mix_stat/golden"),
                                               ("mindspore_vs_torch/mindspore", "mindspore_vs_torch/torch")]):
        path = convert(tmp_path / str(number), target=os.path.join("..", target), golden=os.path.join("..", golden))
        assert unpacked(rematched({"path": path})) == stored(path)


def test_manual_matches_give_what_graph_convert_gives_with_the_same_file(plain, tmp_path):
    entries = [{"action": "match", "target": [QKV], "golden": [O_PROJ]}]
    (tmp_path / "m.yaml").write_text(json.dumps({"matches": entries}))
    converted = convert(tmp_path / "out", "--matches", str(tmp_path / "m.yaml"))
    answer = rematched({"path": plain, "matches": entries})
    assert without_provenance(unpacked(answer)) == without_provenance(stored(converted))
    assert answer["counts"]["new"] >= 1 and answer["counts"]["gone"] >= 1


def test_matches_of_the_conversion_stay_in_force(tmp_path):
    (tmp_path / "m.yaml").write_text(json.dumps({"matches": [{"target": [QKV], "golden": [O_PROJ]}]}))
    path = convert(tmp_path / "out", "--matches", str(tmp_path / "m.yaml"))
    pairs = graph_pb2.Pairs.FromString(unpacked(rematched({"path": path}))["pairs"])
    assert 5 in pairs.how  # HOW_MANUAL


def test_what_was_taken_apart_is_not_joined_again(plain):
    entries = [{"action": "unmatch", "target": [QKV], "golden": [Q_PROJ, K_PROJ, V_PROJ]}]
    answer = rematched({"path": plain, "matches": entries, "preview": True})
    assert answer["counts"] == {"pairs": 160, "before": 161, "new": 0, "gone": 1, "kept": 160}
    assert answer["comparisons"] == {} and set(answer["sections"]) == {"summary", "pairs", "verdicts"}


def test_another_mapping_gives_what_graph_convert_gives_with_it(plain, tmp_path):
    from mappings import templates

    template = next(template for template in templates() if template.name == "megatron_core_to_hf_qwen2")
    converted = convert(tmp_path, "-lm", template.name)
    answer = rematched({"path": plain, "mapping": {"name": f"{template.name}.yaml", "text": template.text}})
    assert without_provenance(unpacked(answer)) == without_provenance(stored(converted))
    assert sum(rule["hits"] for rule in answer["rules"]) > 0
    back = rematched({"path": converted, "mapping": None})
    assert without_provenance(unpacked(back)) == without_provenance(stored(plain))


def test_rules_that_hit_nothing_and_unknown_classes_are_told_with_their_line(plain):
    text = "TopLayer:\n  0.decoder: model\nTransformerLayer:\n  self_attention: self_attn\n  nothing_here: mlp\nNoSuchClass:\n  a: b\n"
    answer = rematched({"path": plain, "mapping": {"name": "mine.yaml", "text": text}, "preview": True})
    assert [rule["hits"] > 0 for rule in answer["rules"]] == [True, True, False, False]
    assert any(message["line"] == 6 and "NoSuchClass" in message["text"] for message in answer["messages"])
    assert any("line 5" in message["text"] for message in answer["messages"])


def test_what_is_left_on_both_sides_is_listed_by_class(plain):
    left = rematched({"path": plain, "preview": True})["left"]
    assert left["target"]["classes"][0] == {"class": "IdentityOp", "count": 32, "sample": left["target"]["classes"][0]["sample"]}
    assert left["target"]["paired"] + sum(entry["count"] for entry in left["target"]["classes"]) == left["target"]["modules"]


def test_another_policy_judges_as_graph_convert_does_under_it(plain, tmp_path):
    converted = convert(tmp_path, "--policy", "msprobe")
    assert without_provenance(unpacked(rematched({"path": plain, "policy": "msprobe"}))) == without_provenance(stored(converted))


def test_a_policy_of_ones_own_is_taken_as_text_and_its_mistakes_are_told_by_its_name(plain):
    from converter.errors import UserError

    loose = {"name": "loose.yaml", "text": "extends: default\ntolerances:\n  float32: {warning: 10, error: 10}\n"}
    assert rematched({"path": plain, "policy": loose, "preview": True})["counts"]["new"] == 0
    with pytest.raises(UserError, match=r"^bad\.yaml"):
        rematched({"path": plain, "policy": {"name": "bad.yaml", "text": "nonsense: 1\n"}})
    with pytest.raises(UserError, match="shipped policies are"):
        rematched({"path": plain, "policy": "/etc/passwd"})


def test_elements_measured_before_are_kept_where_the_dumps_are_gone(tmp_path):
    for side, name in (("t", "megatron_tensor_bug_qkv_bias_layer2"), ("g", "hf_tensor_layer2")):
        shutil.copytree(os.path.join(MEGATRON, name), tmp_path / side)
    path = convert(tmp_path / "out", target=str(tmp_path / "t"), golden=str(tmp_path / "g"))
    assert unpacked(rematched({"path": path})) == stored(path)
    entries = [{"action": "match", "target": [QKV], "golden": [O_PROJ]}]
    with_dumps = graph_pb2.ComparisonBlock.FromString(unpacked(rematched({"path": path, "matches": entries}))["comparisons/0"])
    shutil.rmtree(tmp_path / "t")
    shutil.rmtree(tmp_path / "g")
    assert unpacked(rematched({"path": path})) == stored(path)
    without = graph_pb2.ComparisonBlock.FromString(unpacked(rematched({"path": path, "matches": entries}))["comparisons/0"])
    said = [entry.why.en for entry in without.unavailable]
    assert any("convert again with these matches" in text for text in said)
    assert not any("convert again with these matches" in entry.why.en for entry in with_dumps.unavailable)


def test_a_rejected_proposal_is_not_proposed_again(tmp_path):
    path = convert(tmp_path, target=os.path.join("..", "mindspore_vs_torch", "mindspore"), golden="megatron")
    offered = graph_pb2.Summary.FromString(open_graph(path).raw("summary")).proposals
    assert len(offered) > 1
    sides = [read_side(open_graph(path), side).tree.names for side in ("target", "golden")]
    nodes = offered[0].target_nodes, offered[0].golden_nodes
    named = [[names[node] for node in chosen] for names, chosen in zip(sides, nodes)]
    entry = {"action": "unmatch", "target": named[0], "golden": named[1]}
    left = graph_pb2.Summary.FromString(unpacked(rematched({"path": path, "matches": [entry]}))["summary"]).proposals
    assert list(left) == list(offered)[1:]


def test_proposed_rules_give_the_same_pairs_again(plain):
    answer = proposed({"path": plain})
    assert answer["missing"] == [] and answer["rules"] > 0
    again = rematched({"path": plain, "mapping": {"name": "p.yaml", "text": answer["text"]}, "match": "mapping", "preview": True})
    assert again["left"]["target"]["paired"] == answer["agreed"]


def test_manual_matches_are_written_as_rules(plain):
    entries = [{"action": "match", "target": [QKV], "golden": [O_PROJ]}]
    answer = proposed({"path": plain, "matches": entries, "pairs": "manual"})
    assert answer["rules"] >= 1 and "linear_qkv" in answer["text"] and "o_proj" in answer["text"]


@pytest.mark.parametrize(("command", "method"), [
    (["graph-convert", "-tp", "a", "-gp", "b"], "auto"),
    (["graph-convert", "-tp", "a", "--match", "exact"], "exact"),
    (["graph-convert", "-i", "gone.json", "-fm"], "fuzzy"),
    (["graph-convert", "-tp", "a", "-lm"], "mapping"),
    (["something", "--else"], "auto"),
    ([], "auto"),
])
def test_the_method_is_that_of_the_conversion(command, method):
    assert method_of(command) == method


# ---------------------------------------------------------------- over HTTP


@pytest.fixture
def server(plain):
    return Server(os.path.dirname(os.path.dirname(os.path.dirname(plain))))


def ask(server, plain, route="/rematch", headers=None, **content):
    run = os.path.basename(os.path.dirname(os.path.dirname(plain)))
    headers = {"Sec-Fetch-Site": "same-origin"} if headers is None else headers
    return server.request(route, method="POST", json={"run": run, "step": 0, "rank": 0, **content}, headers=headers)


def test_the_server_answers_from_a_process_of_its_own(server, plain):
    answer = ask(server, plain, preview=True)
    assert answer.status_code == 200 and body(answer)["counts"]["kept"] == 161
    assert "Module" in body(ask(server, plain, "/propose"))["text"] or body(ask(server, plain, "/propose"))["rules"] > 0


def test_contradicting_rules_are_the_users_error_with_line_and_column(server, plain):
    text = "TopLayer:\n  0.decoder: model\nTransformerLayer:\n  self_attention: mlp\n  mlp: mlp\n"
    answer = ask(server, plain, mapping={"name": "mine.yaml", "text": text})
    assert answer.status_code == 422 and "mine.yaml, line" in body(answer)["error"]["en"]


def test_a_foreign_page_and_a_strange_path_are_refused(server, plain):
    assert ask(server, plain, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert ask(server, plain, run="../etc").status_code == 404
    assert server.request("/rematch").status_code == 405


def test_what_takes_too_long_is_stopped_and_said(plain):
    from tb_graph_ascend.request_checks import RequestProblem

    with pytest.raises(RequestProblem, match="longer than 0 seconds"):
        server_side.rematch_in_process({"path": plain}, time_limit=0.01)


def test_templates_and_policies_are_listed(server):
    names = [entry["name"] for entry in body(server.request("/templates"))]
    assert "megatron_core_to_hf_qwen2" in names
    assert body(server.request("/policies"))[0] == {"name": "default"}
