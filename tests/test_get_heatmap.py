"""GET heatmap: the differences of one row, read from the dumps on demand; what is refused, and what is said when it cannot be had."""

from __future__ import annotations

import base64
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from plugin_server import Server, body
from tensorboard.plugins.base_plugin import TBContext

from converter.cli import main
from converter.compare.heatmap import MISMATCH
from converter.compare.tensor_files import read_tensor
from converter.graphfile import graph_pb2
from converter.graphfile.file import open_graph
from converter.row_heatmap import row_heatmap
from tb_graph_ascend import get_heatmap as server_side
from tb_graph_ascend.plugin import GraphPlugin

DATA = os.path.join(os.path.dirname(__file__), "data", "megatron_vs_hf")
DUMPS = {"target": "megatron_tensor_bug_qkv_bias_layer2", "golden": "hf_tensor_layer2"}
QKV = "Module.0.decoder.layers.2.self_attention.linear_qkv.ColumnParallelLinear.forward.0"
ATTENTION = "Module.model.layers.2.self_attn"
FILES = os.path.join("step0", "rank0", "dump_tensor_data")


class Converted:
    """Copies of the two dumps, and the comparison of them."""

    def __init__(self, folder) -> None:
        self.folder = folder
        for dump in DUMPS.values():
            shutil.copytree(os.path.join(DATA, dump), folder / dump)
        self.convert()

    def convert(self, **paths):
        paths = {side: paths.get(side, str(self.folder / dump)) for side, dump in DUMPS.items()}
        shutil.rmtree(self.folder / "logs", ignore_errors=True)
        assert main(["-tp", paths["target"], "-gp", paths["golden"], "-o", str(self.folder / "logs")]) == 0
        self.run, = os.listdir(self.folder / "logs")
        self.file = open_graph(str(self.folder / "logs" / self.run / "step0" / "rank0.pb"))
        self.server = Server(self.folder / "logs")
        self.server.runs()

    def rows(self):
        """(target leaves, golden leaves, relation, layout) of every compared row, by the target's file."""
        block = self.file.message("comparisons/0", graph_pb2.ComparisonBlock)
        columns = {name: np.frombuffer(getattr(block, name), "<i4")
                   for name in ("target_node", "target_leaf", "golden_node", "golden_leaf")}
        names = self.file.message("tensors/target/0", graph_pb2.TensorBlock)
        ends, data_name = np.frombuffer(names.row_end, "<u4"), np.frombuffer(names.data_name, "<u4")
        found = {}
        for row in range(block.row_count):
            target, golden = ([(int(columns[f"{side}_node"][row]), int(columns[f"{side}_leaf"][row]))] for side in ("target", "golden"))
            relation = ""
            for composition in block.compositions:
                if composition.row == row:
                    leaves, relation = list(zip(composition.node, composition.leaf)), composition.relation
                    target, golden = (target, leaves) if composition.golden else (leaves, golden)
            node, leaf = target[0]
            if node < 0 or golden[0][0] < 0:
                continue
            number = data_name[(int(ends[node - 1]) if node else 0) + leaf]
            if number:
                layout = block.layout_names[block.layout[row] - 1] if block.layout and block.layout[row] else ""
                found[names.strings[number - 1]] = target, golden, relation, layout
        return found

    def ask(self, name, **changes):
        target, golden, relation, layout = self.rows()[name]
        query = {"run": self.run, "step": 0, "rank": 0, "target": text(target), "golden": text(golden), "relation": relation,
                 "layout": layout}
        return self.server.request("/heatmap", query={**query, **changes})


def text(leaves):
    return ",".join(f"{node}.{leaf}" for node, leaf in leaves)


def elements(side, name):
    return read_tensor(os.path.join(DATA, DUMPS[side], FILES), name).numbers().astype(np.float64)


def grid(answer, name, kind="<f4"):
    return np.frombuffer(base64.b64decode(answer[name]), kind).reshape(answer["rows"], answer["columns"])


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    return Converted(tmp_path_factory.mktemp("heatmap"))


@pytest.fixture
def own(tmp_path):
    """As `converted`, to be changed."""
    return Converted(tmp_path)


def test_tensors_of_two_layouts_are_laid_over_each_other(converted):
    name = "Module.0.decoder.layers.2.self_attention.linear_proj.RowParallelLinear.forward.0.output.0.pt"
    answer = body(converted.ask(name))
    target, golden = elements("target", name), elements("golden", f"{ATTENTION}.o_proj.Linear.forward.0.output.0.pt")
    assert target.shape[:2] == golden.shape[:2][::-1] and "permute" in answer["layout"]  # [s, b, h] against [b, s, h]
    apart = (target - golden.transpose(1, 0, 2)).reshape(-1, target.shape[-1])
    assert (answer["shape"], answer["tokens"], answer["channels"]) == (list(target.shape), *apart.shape)
    np.testing.assert_array_equal(grid(answer, "largest"), np.abs(apart).astype("<f4"))
    np.testing.assert_allclose(grid(answer, "mean"), apart, rtol=1e-6)
    assert answer["worst_index"] == [int(axis) for axis in np.unravel_index(np.abs(apart).argmax(), target.shape)]
    assert answer["scale"] == pytest.approx(np.sqrt((golden**2).mean()))


def test_of_a_fused_layer_the_wrong_part_shows_where_it_lies(converted):
    answer = body(converted.ask(f"{QKV}.parameters.bias.pt"))
    target = elements("target", f"{QKV}.parameters.bias.pt")
    parts = [elements("golden", f"{ATTENTION}.{part}_proj.Linear.forward.0.parameters.bias.pt") for part in "qkv"]
    golden = np.concatenate([piece for group in range(2) for part in parts for piece in [part.reshape(2, -1)[group]]])
    assert answer["layout"] == "golden per_group(2): q_proj, k_proj, v_proj"
    np.testing.assert_array_equal(grid(answer, "largest"), np.abs(target - golden)[None].astype("<f4"))
    np.testing.assert_array_equal(grid(answer, "golden"), golden[None].astype("<f4"))
    assert answer["differing"] == np.count_nonzero(target - golden)
    assert float(answer["worst_difference"]) == np.abs(target - golden).max()


def test_the_fused_layer_may_be_on_either_side(own):
    own.convert(target=str(own.folder / DUMPS["golden"]), golden=str(own.folder / DUMPS["target"]))
    name = f"{ATTENTION}.q_proj.Linear.forward.0.parameters.bias.pt"  # the first part
    answer = body(own.ask(name))
    whole = elements("target", f"{QKV}.parameters.bias.pt")
    assert answer["layout"] == "target per_group(2): q_proj, k_proj, v_proj"
    np.testing.assert_array_equal(grid(answer, "golden"), whole[None].astype("<f4"))


def test_every_row_is_laid_as_its_comparison_laid_it(converted):
    rows = converted.rows()
    assert len(rows) > 3
    for target, golden, relation, layout in rows.values():
        assert row_heatmap(converted.file, target, golden, relation, layout).layout == layout


def test_any_two_tensors_can_be_laid_over_each_other(converted):
    """After a match by hand rows are other ones than those of the file."""
    name = f"{QKV}.input.0.pt"
    target, golden, _, _ = converted.rows()[name]
    found = row_heatmap(converted.file, target, golden, "", "golden [1] → of another row")
    assert found.grid.tokens > 1


def test_the_numbers_of_the_answer_are_json_whatever_the_elements_are(own):
    place = own.folder / DUMPS["target"] / FILES / f"{QKV}.parameters.bias.pt"
    content = place.read_bytes()
    bias = elements("target", place.name).astype("<f4")
    assert content.count(bias.tobytes()) == 1
    changed = bias.copy()
    changed[5], changed[9] = np.nan, np.inf
    place.write_bytes(content.replace(bias.tobytes(), changed.tobytes()))
    answer = body(own.ask(place.name))
    assert (answer["worst_index"], answer["worst_target"], answer["worst_difference"]) == ([5], "NaN", "Infinity")
    assert np.flatnonzero(grid(answer, "marks", "|u1") & MISMATCH).tolist() == [5, 9]


def test_dumps_are_found_where_relative_paths_lead(own, monkeypatch):
    monkeypatch.chdir(own.folder)
    own.convert(**DUMPS)
    monkeypatch.chdir("/")  # the server was started elsewhere
    assert own.ask(f"{QKV}.input.0.pt").status_code == 200


@pytest.mark.parametrize(("side", "gone", "code", "words"), [
    ("golden", "", "dump_gone", "the dump is not at {path} any more"),
    ("target", FILES, "dump_gone", "the dump at {path} has no dump_tensor_data any more"),
    ("target", os.path.join(FILES, f"{QKV}.input.0.pt"), "tensor", f"target: its file {QKV}.input.0.pt is missing"),
])
def test_what_is_not_there_any_more_is_named(own, side, gone, code, words):
    path = str(own.folder / DUMPS[side])
    place = os.path.join(path, gone) if gone else path
    os.rename(place, place + "_elsewhere")
    response = own.ask(f"{QKV}.input.0.pt")
    error = body(response)["error"]
    assert (response.status_code, error["code"]) == (404, code)
    assert words.format(path=path)[1:] in error["en"] and error["zh"] != error["en"]


def rewritten(own, monkeypatch, **files):
    """The graph file as somebody may have made it by hand: `name` is the tensor's file, `below` the tensor directory."""
    from converter import row_heatmap as module

    if "below" in files:
        summary = own.file.summary()
        summary.target.tensor_directory = files["below"]
        monkeypatch.setattr(own.file, "summary", lambda: summary)
    if "name" in files:
        monkeypatch.setattr(module, "leaf_file", lambda *where: (files["name"], "torch.float32"))
    target, golden, relation, layout = own.rows()[f"{QKV}.input.0.pt"]
    return row_heatmap(own.file, target, golden, relation, layout)


@pytest.mark.parametrize("name", ["../../../secret.npy", "/etc/secret.npy", "..\\secret.npy", "a/../../secret.npy"])
def test_a_file_name_cannot_lead_out_of_the_dump(own, monkeypatch, name):
    np.save(own.folder / DUMPS["target"] / "secret.npy", np.zeros(4))
    with pytest.raises(Exception, match=r"leads out of the dump|points out of the dump"):
        rewritten(own, monkeypatch, name=name)


@pytest.mark.parametrize("below", ["../../..", "/etc", "x/../../y"])
def test_a_tensor_directory_cannot_lie_outside_of_the_dump(own, monkeypatch, below):
    with pytest.raises(Exception, match="outside of the dump"):
        rewritten(own, monkeypatch, below=below)


def test_a_link_out_of_the_dump_is_not_followed(own):
    np.save(own.folder / "secret.npy", np.zeros(4))
    place = own.folder / DUMPS["target"] / FILES / f"{QKV}.input.0.pt"
    place.unlink()
    place.symlink_to(own.folder / "secret.npy")
    assert "leads out of the dump" in body(own.ask(place.name))["error"]["en"]


def test_a_dump_behind_a_link_is_read(own):
    os.rename(own.folder / DUMPS["target"], own.folder / "disk")
    os.symlink(own.folder / "disk", own.folder / DUMPS["target"])
    assert own.ask(f"{QKV}.input.0.pt").status_code == 200


def test_tensors_too_large_to_be_shown_are_not_read(converted):
    with pytest.raises(Exception, match=r"files have 0\.0 GB, and the viewer reads up to 0\.0 GB"):
        target, golden, relation, layout = converted.rows()[f"{QKV}.input.0.pt"]
        row_heatmap(converted.file, target, golden, relation, layout, largest=100)


@pytest.mark.parametrize("changes", [{"target": ""}, {"target": "1"}, {"golden": "1.2;3"}, {"golden": "-1.0"}, {"relation": "join"},
                                     {"layout": "x" * 2000}, {"step": "x"}])
def test_a_request_that_makes_no_sense_is_refused(converted, changes):
    assert converted.ask(f"{QKV}.input.0.pt", **changes).status_code == 400


@pytest.mark.parametrize("target", ["999999.0", "1.99999", "0.0"])
def test_a_tensor_that_the_graph_does_not_have(converted, target):
    response = converted.ask(f"{QKV}.input.0.pt", target=target)
    assert (response.status_code, body(response)["error"]["code"]) == (404, "no_such_row")


def test_it_can_be_switched_off(converted):
    flags = SimpleNamespace(logdir_spec=None, host=None, tb_graph_ascend_no_dumps=True)
    plugin = GraphPlugin(TBContext(logdir=str(converted.folder / "logs"), flags=flags, multiplexer=None, data_provider=None))
    converted.server.apps, apps = plugin.get_plugin_apps(), converted.server.apps
    try:
        converted.server.runs()
        response = converted.ask(f"{QKV}.input.0.pt")
    finally:
        converted.server.apps = apps
    assert (response.status_code, body(response)["error"]["code"]) == (403, "dumps_off")


def test_a_slow_disk_does_not_hold_the_server(converted, monkeypatch):
    monkeypatch.setattr(server_side, "TIME_LIMIT", 0.01)
    response = converted.ask(f"{QKV}.input.0.pt")
    assert (response.status_code, body(response)["error"]["code"]) == (503, "too_slow")
