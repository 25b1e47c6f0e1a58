"""graph-view: serving without TensorBoard, the doctor, and the exported page."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from command_line import convert
from graph_view_server import serving
from log_directories import graph_bytes, write_run
from small_dumps import LINEAR, SAME, write_dump

from converter.errors import UserError
from converter.graphfile.file import open_graph
from converter.graphfile.graph_pb2 import Pairs
from tb_graph_ascend import export_page as export_module
from tb_graph_ascend.doctor import Finding, about_command, about_log_directory, about_plugins
from tb_graph_ascend.matches import NO_FILE, write_matches
from tb_graph_ascend.view_cli import main


@pytest.fixture
def logs(tmp_path):
    write_run(str(tmp_path / "logs" / "compare_1"), ((0, 0), (0, 1)))
    return tmp_path / "logs"


@pytest.fixture
def address(logs):
    with serving(str(logs)) as address:
        yield address


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    path = tmp_path / "viewer.js"
    path.write_text("export function render() { document.title = '</script>'; }")
    monkeypatch.setattr(export_module, "VIEWER", str(path))
    return path


# ---------------------------------------------------------------- serve


def test_the_page_loads_its_module_from_beside_it_and_allows_nothing_inline(address):
    with urllib.request.urlopen(f"{address}/") as answer:
        page = answer.read().decode()
        policy = answer.headers["Content-Security-Policy"]
    assert 'src="./start.js"' in page and 'lang="en"' in page and "<title>" in page
    assert "script-src 'self';" in policy and "unsafe-eval" not in policy
    with urllib.request.urlopen(f"{address}/start.js") as answer:
        assert b'from "./index.js"' in answer.read() and answer.headers["Content-Type"].startswith("text/javascript")


def test_the_same_routes_are_served(address):
    with urllib.request.urlopen(f"{address}/runs") as answer:
        runs = json.loads(answer.read())
    assert runs["host"] == "serve" and runs["runs"][0]["run"] == "compare_1"
    with urllib.request.urlopen(f"{address}/section?run=compare_1&step=0&rank=1&name=summary") as answer:
        assert answer.read()


@pytest.mark.parametrize("path", ["/nothing", "/assets/none.js", "/../setup.py"])
def test_other_addresses_are_not_found(address, path):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(address + path)
    assert caught.value.code == 404


def test_a_missing_directory_and_a_taken_port_are_said_plainly(logs, address, capsys):
    assert main(["serve", str(logs / "nowhere")]) == 2
    assert "nowhere does not exist. Correct the path" in capsys.readouterr().err
    assert main(["serve", str(logs / "compare_1" / "manifest.json")]) == 2
    assert "manifest.json is a file, not a log directory. Name the directory" in capsys.readouterr().err
    assert main(["serve", str(logs), "--port", address.rpartition(":")[2]]) == 2
    assert "Choose another port" in capsys.readouterr().err


# ---------------------------------------------------------------- doctor


def test_the_doctor_names_runs_and_broken_files(logs):
    (logs / "compare_1" / "step0" / "rank1.pb").write_bytes(graph_bytes()[:60])
    findings = list(about_log_directory(str(logs)))
    assert [finding.good for finding in findings] == [False, False]
    assert "compare_1" in findings[0].text and "cut off" in findings[1].text


def test_the_doctor_counts_graph_files_in_words_that_fit(logs):
    write_run(str(logs / "compare_2"))
    texts = [finding.text for finding in about_log_directory(str(logs))]
    assert texts == ["run compare_1: compare, 2 graph files", "run compare_2: compare, 1 graph file"]


def test_the_doctor_says_what_to_do_where_nothing_is_found(tmp_path):
    finding, = about_log_directory(str(tmp_path))
    assert not finding.good and "graph-convert" in finding.advice


@pytest.mark.parametrize(("name", "said"), [("nowhere", "does not exist"), ("file", "is a file, not a log directory")])
def test_the_doctor_tells_a_missing_directory_and_a_file_from_an_empty_directory(tmp_path, name, said):
    (tmp_path / "file").write_text("")
    finding, = about_log_directory(str(tmp_path / name))
    assert not finding.good and said in finding.text


def test_the_doctor_finds_what_keeps_tensorboard_from_starting(monkeypatch):
    class Entry:
        name, value = "bad", "bad.plugin:Plugin"

        def __init__(self, plugin):
            self._plugin = plugin

        def load(self):
            if isinstance(self._plugin, Exception):
                raise self._plugin
            return self._plugin

    class Plugin:
        plugin_name = "twice"

    class Entries(list):
        def select(self, group):
            assert group == "tensorboard_plugins"
            return self

        get = staticmethod(lambda group, default: default)

    monkeypatch.setattr("importlib.metadata.entry_points", lambda: Entries([Entry(ImportError("no libfoo")), Entry(Plugin), Entry(Plugin)]))
    wrong = [finding for finding in about_plugins() if not finding.good]
    assert ["no libfoo" in wrong[0].text, "two plugins" in wrong[1].text, "does not know" in wrong[2].text] == [True] * 3
    assert all(finding.advice for finding in wrong)


def script(directory, name="tensorboard"):
    directory.mkdir(parents=True)
    path = directory / name
    path.write_text("#!/bin/sh\n", encoding="ascii")
    path.chmod(0o755)
    return path


def test_the_doctor_finds_the_tensorboard_of_an_environment_that_is_not_activated(monkeypatch, tmp_path):
    own = script(tmp_path / "environment" / "bin")
    monkeypatch.setattr("tb_graph_ascend.doctor._script_directories", lambda: [str(own.parent)])
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    finding, = about_command(installed=True)
    assert finding.good and str(own) in finding.text


def test_the_doctor_knows_how_to_start_a_tensorboard_without_a_command(monkeypatch, tmp_path):
    monkeypatch.setattr("tb_graph_ascend.doctor._script_directories", lambda: [str(tmp_path)])
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    finding, = about_command(installed=True)
    assert finding.good and f"{sys.executable} -m tensorboard.main" in finding.text


def test_the_doctor_warns_of_a_tensorboard_on_path_that_is_another_pythons(monkeypatch, tmp_path):
    own, other = script(tmp_path / "environment" / "bin"), script(tmp_path / "system" / "bin")
    monkeypatch.setattr("tb_graph_ascend.doctor._script_directories", lambda: [str(own.parent)])
    monkeypatch.setenv("PATH", str(other.parent))
    wrong, = (finding for finding in about_command(installed=True) if not finding.good)
    assert str(other) in wrong.text and str(own) in wrong.advice


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_doctor_accepts_a_link_on_path_to_its_own_tensorboard(monkeypatch, tmp_path):
    own = script(tmp_path / "environment" / "bin")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "tensorboard").symlink_to(own)
    monkeypatch.setattr("tb_graph_ascend.doctor._script_directories", lambda: [str(own.parent)])
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert all(finding.good for finding in about_command(installed=True))


def test_the_doctors_exit_code_says_whether_something_is_wrong(monkeypatch, capsys):
    for function in ("about_installation", "about_plugins"):
        monkeypatch.setattr(f"tb_graph_ascend.doctor.{function}", lambda: iter([Finding(True, "fine")]))
    assert main(["doctor"]) == 0
    assert "Nothing wrong" in capsys.readouterr().out
    monkeypatch.setattr("tb_graph_ascend.doctor.about_plugins", lambda: iter([Finding(False, "broken", "mend it")]))
    assert main(["doctor"]) == 1
    assert "mend it" in capsys.readouterr().out


def test_nobody_reading_the_doctor_any_more_is_no_error(logs):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tb_graph_ascend.view_cli", "doctor", str(logs)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------- export


def embedded(page: str):
    """What the page's own script parses."""
    return json.loads(re.search(r'<script type="application/json" id="[^"]+">(.*?)</script>', page, re.S)[1])


def test_the_page_holds_every_section_as_it_is_stored(logs, viewer, tmp_path):
    output = tmp_path / "page.html"
    assert main(["export", str(logs / "compare_1"), "-o", str(output)]) == 0
    data = embedded(output.read_text())
    assert [(graph["step"], graph["rank"]) for graph in data["runs"]["runs"][0]["graphs"]] == [(0, 0), (0, 1)]
    assert data["runs"]["runs"][0]["run"] == "compare_1" and data["runs"]["writable"] is False
    file = open_graph(str(logs / "compare_1" / "step0" / "rank0.pb"))
    for name in file.index.sections:
        assert base64.b64decode(data["sections"][f"compare_1|0|0|{name}"]) == file.stored(name)
    assert [section["name"] for section in data["graphs"]["compare_1|0|0"]["sections"]] == list(file.index.sections)


@pytest.fixture
def changed(tmp_path):
    """A graph file beside which a match by hand, and a mark, are kept."""
    other = LINEAR.replace("fc", "dense")
    target = write_dump(str(tmp_path / "target"), SAME)
    golden = write_dump(str(tmp_path / "golden"), {other: SAME[LINEAR]})
    run = convert("-tp", target, "-gp", golden, "--match", "exact", "-o", tmp_path / "out").directory
    write_matches(str(run / "step0" / "rank0.pb"), [{"target": LINEAR, "golden": other}], [{"nodes": LINEAR}], NO_FILE)
    return run


def test_the_page_shows_the_pairs_that_people_made_in_the_viewer_and_their_marks(changed, viewer, tmp_path):
    assert main(["export", str(changed), "-o", str(tmp_path / "page.html")]) == 0
    data = embedded((tmp_path / "page.html").read_text())
    key = f"{changed.name}|0|0"
    assert data["marks"][key]["triage"][0]["nodes"] == LINEAR and data["marks"][key]["writable"] is False
    file = open_graph(str(changed / "step0" / "rank0.pb"))
    here, stored = (gzip.decompress(content) for content in (base64.b64decode(data["sections"][f"{key}|pairs"]), file.stored("pairs")))
    assert Pairs.FromString(here).pair_count == Pairs.FromString(stored).pair_count + 1
    assert base64.b64decode(data["sections"][f"{key}|strings"]) == file.stored("strings")


def test_what_is_kept_beside_a_graph_and_cannot_be_put_into_force_is_said(changed, viewer, tmp_path, capsys):
    (changed / "step0" / "rank0.matches.yaml").write_text("mapping: {name: mine.yaml, text: 'TopLayer: ['}\n")
    assert main(["export", str(changed), "-o", str(tmp_path / "page.html")]) == 2
    assert "rank0.matches.yaml cannot be put into force: mine.yaml" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_the_page_loads_nothing_from_anywhere(logs, viewer, tmp_path):
    main(["export", str(logs / "compare_1"), "-o", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text()
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert not re.search(r'(src|href)="', page)


def test_names_that_are_markup_stay_text(viewer, tmp_path):
    name = "compare_</script><script>alert(1)<!--"
    run = write_run(str(tmp_path / name.replace("/", "∕")))
    main(["export", run, "-o", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text()
    assert "<script>alert" not in page and "<!--" not in page
    assert embedded(page)["runs"]["runs"][0]["run"] == os.path.basename(run)


def test_step_and_rank_choose_and_a_lone_file_is_enough(logs, viewer, tmp_path):
    main(["export", str(logs / "compare_1"), "--rank", "1", "-o", str(tmp_path / "page.html")])
    assert list(embedded((tmp_path / "page.html").read_text())["graphs"]) == ["compare_1|0|1"]
    main(["export", str(logs / "compare_1" / "step0" / "rank0.pb"), "-o", str(tmp_path / "lone.html")])
    assert list(embedded((tmp_path / "lone.html").read_text())["graphs"]) == ["rank0.pb|0|0"]


@pytest.mark.parametrize("arguments, why", [
    (["nowhere"], "no graph file is there"),
    (["logs", "--step", "7"], "It has: step 0 rank 0, step 0 rank 1"),
    (["two"], "2 runs below it"),
    (["broken"], "cut off"),
])
def test_what_cannot_be_exported_is_said_and_nothing_is_written(logs, viewer, tmp_path, capsys, arguments, why):
    write_run(str(tmp_path / "two" / "compare_1"))
    write_run(str(tmp_path / "two" / "compare_2"))
    write_run(str(tmp_path / "broken"))
    (tmp_path / "broken" / "step0" / "rank0.pb").write_bytes(graph_bytes()[:60])
    assert main(["export", str(tmp_path / arguments[0]), *arguments[1:], "-o", str(tmp_path / "page.html")]) == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_an_output_that_cannot_be_written_and_a_front_end_that_was_not_built_are_said(logs, viewer, tmp_path):
    with pytest.raises(UserError, match="cannot be written"):
        export_module.export_page(str(logs / "compare_1"), str(tmp_path / "none" / "page.html"))
    viewer.unlink()
    with pytest.raises(UserError, match="not built"):
        export_module.export_page(str(logs / "compare_1"), str(tmp_path / "page.html"))
