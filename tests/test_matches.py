"""Manual matches beside a graph: readable, written in one piece, never over somebody else's change, never for a stranger's page."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import threading
from dataclasses import replace
from functools import partial

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from log_directories import write_run
from plugin_server import Server, body, graph_query

from converter.errors import UserError
from converter.match.pairing import Relation
from converter.match.pins import read_pins
from tb_graph_ascend import export_page, kept_changes, post_rematch
from tb_graph_ascend import matches as matches_module
from tb_graph_ascend.matches import NO_FILE, Conflict, read_matches, write_matches

MATCH = {"action": "match", "target": ["Module.qkv.forward.0"], "golden": ["Module.q.forward.0", "Module.k.forward.0"],
         "relation": "concat", "author": "王五", "time": "2026-11-29T12:00:00Z"}
MAPPING = {"name": "mine.yaml", "text": "TopLayer:\n  decoder: model  # 解码器\n", "author": "王五", "time": "t"}
TRIAGE = {"nodes": "Module.layers.*", "side": "target", "verdict": "expected", "note": "dropout: 已知", "author": "a", "time": "t"}


@pytest.fixture
def graph(tmp_path):
    write_run(str(tmp_path / "compare_1"))
    return str(tmp_path / "compare_1" / "step0" / "rank0.pb")


@pytest.fixture
def server(graph, tmp_path):
    return Server(tmp_path)


def post(server, revision, matches=(MATCH,), triage=(), headers=None, mapping=None, **query):
    content = {**graph_query(**query), "revision": revision, "matches": list(matches), "triage": list(triage), "mapping": mapping}
    headers = {"Sec-Fetch-Site": "same-origin"} if headers is None else headers
    return server.request("/matches", method="POST", json=content, headers=headers)


# ---------------------------------------------------------------- the file


def test_without_a_file_there_is_nothing_to_read(graph):
    assert read_matches(graph).revision == NO_FILE and read_matches(graph).matches == []


def test_what_is_written_is_read_again(graph):
    written = write_matches(graph, [MATCH], [TRIAGE], NO_FILE)
    assert read_matches(graph) == written
    assert (written.matches, written.triage) == ([MATCH], [TRIAGE])


def test_the_file_is_plain_yaml_that_a_person_can_read_and_the_converter_takes(graph):
    write_matches(graph, [MATCH], [TRIAGE], NO_FILE)
    path = graph.replace(".pb", ".matches.yaml")
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    assert text.startswith("#") and "王五" in text and yaml.safe_load(text)["matches"][0]["golden"] == MATCH["golden"]
    pin, = read_pins(path).pins
    assert (pin.target, pin.golden, pin.relation) == (tuple(MATCH["target"]), tuple(MATCH["golden"]), Relation.CONCAT)


def test_a_mapping_that_was_put_into_force_stands_in_the_file_as_it_was_typed(graph):
    write_matches(graph, [MATCH], [], NO_FILE, MAPPING)
    path = graph.replace(".pb", ".matches.yaml")
    with open(path, encoding="utf-8") as stream:
        assert "    TopLayer:\n      decoder: model  # 解码器\n" in stream.read()
    assert read_matches(graph).mapping == MAPPING
    kept = read_pins(path).mapping
    assert kept is not None and (kept.name, kept.text) == (MAPPING["name"], MAPPING["text"])


@given(text=st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=80))
def test_the_text_of_a_mapping_comes_back_as_it_was(text):
    from tb_graph_ascend.matches import _parse, _to_yaml

    content = _to_yaml([], [], {"name": "map.yaml", "text": text})
    assert _parse(content, "m").mapping == {"name": "map.yaml", "text": text}


def test_a_second_writer_does_not_lose_the_first_ones_change(graph):
    first = write_matches(graph, [MATCH], [], NO_FILE)
    with pytest.raises(Conflict) as caught:
        write_matches(graph, [], [], NO_FILE)
    assert caught.value.current == first == read_matches(graph)


def test_of_many_writers_at_once_one_wins_and_the_others_are_told(graph):
    outcomes = []

    def write(number):
        try:
            write_matches(graph, [], [{**TRIAGE, "note": str(number)}], NO_FILE)
            outcomes.append(number)
        except Conflict:
            outcomes.append(None)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winner, = [number for number in outcomes if number is not None]
    assert read_matches(graph).triage[0]["note"] == str(winner)


def test_a_file_edited_by_hand_is_another_revision(graph):
    written = write_matches(graph, [MATCH], [], NO_FILE)
    with open(graph.replace(".pb", ".matches.yaml"), "a", encoding="utf-8") as stream:
        stream.write("# a note\n")
    assert read_matches(graph).matches == written.matches and read_matches(graph).revision != written.revision


def test_a_write_that_fails_leaves_the_old_file(graph, monkeypatch):
    written = write_matches(graph, [MATCH], [], NO_FILE)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError):
        write_matches(graph, [], [], written.revision)
    assert read_matches(graph) == written and sorted(os.listdir(os.path.dirname(graph))) == ["rank0.matches.yaml", "rank0.pb"]


@pytest.mark.parametrize("text, why", [
    ("matches: [", "not valid YAML"),
    ("- a", "expected a mapping"),
    ("matches: {a: b}", "must be a list"),
    ("triage: [{nodes: [3]}]", "entry 1 of `triage`"),
    ("triage: [{nodes: x, verdict: good}]", "verdict must be"),
    ("triage: [{nodes: x, side: left}]", "side must be"),
    ("matches: [{action: match, target: a}]", "golden must be"),
    ("mapping: {name: a}", "`mapping` must have a name and a text"),
    ("!!python/object/apply:os.system [echo]", "expected a mapping"),
])
def test_a_file_that_is_not_understood_says_where_and_is_not_overwritten(graph, text, why):
    path = graph.replace(".pb", ".matches.yaml")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    with pytest.raises(UserError, match=why):
        read_matches(graph)
    with pytest.raises(UserError):
        write_matches(graph, [MATCH], [], NO_FILE)
    with open(path, encoding="utf-8") as stream:
        assert stream.read() == text


@pytest.mark.parametrize("text", ["matches: null\nmapping: ~\ntriage:\n", "null\n", "", "# nothing\n"])
def test_parts_that_are_null_are_empty_for_the_viewer_and_for_the_converter(graph, text):
    with open(matches_module.matches_path(graph), "w", encoding="utf-8") as stream:
        stream.write(text)
    found = read_matches(graph)
    assert (found.matches, found.mapping, found.triage) == ([], None, [])
    assert read_pins(matches_module.matches_path(graph)).pins == ()


def test_values_are_text_as_typed_also_where_yaml_sees_dates_and_numbers(graph):
    with open(matches_module.matches_path(graph), "w", encoding="utf-8") as stream:
        stream.write("matches:\n- {target: 1, golden: [null], time: 2026-99-99}\ntriage:\n- {nodes: 1" + "0" * 5000 + ", note: .nan}\n")
    found = read_matches(graph)
    assert (found.matches[0]["target"], found.matches[0]["golden"], found.matches[0]["time"]) == (["1"], ["null"], "2026-99-99")
    assert found.triage[0]["note"] == ".nan" and len(found.triage[0]["nodes"]) == 5001


def test_a_part_that_stands_there_twice_is_not_dropped_silently(graph):
    with open(matches_module.matches_path(graph), "w", encoding="utf-8") as stream:
        stream.write("triage:\n- nodes: a\nmatches: []\ntriage:\n- nodes: b\n")
    with pytest.raises(UserError, match=r"line 4, column 1: .*triage.* line 1"):
        read_matches(graph)


def test_a_file_of_absurd_size_is_not_read(graph, monkeypatch):
    monkeypatch.setattr(matches_module, "LARGEST", 10)
    write_path = graph.replace(".pb", ".matches.yaml")
    with open(write_path, "w", encoding="utf-8") as stream:
        stream.write("# " + "x" * 20)
    with pytest.raises(UserError, match="more than the 10"):
        read_matches(graph)


# ---------------------------------------------------------------- the requests


def test_matches_are_saved_over_what_was_read(server, graph):
    read = body(server.request("/matches", query=graph_query()))
    assert read == {"matches": [], "triage": [], "mapping": None, "revision": NO_FILE, "writable": True}
    saved = post(server, read["revision"], triage=[TRIAGE])
    assert saved.status_code == 200 and body(saved)["matches"] == [MATCH]
    again = body(server.request("/matches", query=graph_query()))
    assert again == body(saved) and again["revision"] == read_matches(graph).revision


def test_the_mapping_in_force_is_saved_with_them(server, graph):
    assert body(post(server, NO_FILE, mapping=MAPPING))["mapping"] == MAPPING
    assert body(server.request("/matches", query=graph_query()))["mapping"] == MAPPING


def test_a_conflict_answers_with_what_the_other_writer_saved(server, graph):
    write_matches(graph, [MATCH], [], NO_FILE)
    answer = post(server, NO_FILE, matches=[])
    assert answer.status_code == 409
    assert body(answer)["error"]["code"] == "matches_changed" and body(answer)["matches"] == [MATCH]
    assert post(server, body(answer)["revision"], matches=[]).status_code == 200


@pytest.mark.parametrize(("slots_free", "code"), [(False, "busy"), (True, "too_slow")])
def test_a_page_that_cannot_be_saved_for_lack_of_time_is_no_failure_of_the_server(server, graph, monkeypatch, slots_free, code):
    write_matches(graph, [MATCH], [], NO_FILE)
    server.names()
    slots = threading.BoundedSemaphore(1)
    if not slots_free:
        slots.acquire()
    monkeypatch.setattr(export_page, "_viewer", lambda: b"")
    monkeypatch.setattr(post_rematch, "_WORK", replace(post_rematch._WORK, slots=slots))
    monkeypatch.setattr(kept_changes, "rematch_in_process", partial(post_rematch.rematch_in_process, time_limit=0.01))
    answer = server.request("/export", query=graph_query())
    error = body(answer)["error"]
    assert (answer.status_code, error["code"]) == (503, code)
    assert code != "busy" or ("Try again" in error["en"] and "请稍后重试" in error["zh"])


def test_a_page_that_cannot_be_saved_for_its_matches_is_a_failure_that_says_why(server, graph, monkeypatch):
    with open(matches_module.matches_path(graph), "w", encoding="utf-8") as stream:
        stream.write("matches: 3\n")
    monkeypatch.setattr(export_page, "_viewer", lambda: b"")
    server.names()
    answer = server.request("/export", query=graph_query())
    assert answer.status_code == 500 and "`matches` must be a list" in body(answer)["error"]["en"]


def test_a_directory_that_cannot_be_written_says_so_before_anybody_works(server, graph, monkeypatch):
    monkeypatch.setattr("tb_graph_ascend.edit_matches.can_write", lambda _: False)
    assert body(server.request("/matches", query=graph_query()))["writable"] is False
    answer = post(server, NO_FILE)
    assert answer.status_code == 403 and body(answer)["error"]["code"] == "read_only"
    assert not os.path.exists(graph.replace(".pb", ".matches.yaml"))


@pytest.mark.parametrize("renamed", [True, False])
def test_a_run_that_is_gone_while_it_is_open_is_told_as_that(server, graph, tmp_path, renamed):
    revision = body(server.request("/matches", query=graph_query()))["revision"]
    run = os.path.dirname(os.path.dirname(graph))
    if renamed:
        os.rename(run, run + "_old")
    else:
        shutil.rmtree(run)
    for answer in (post(server, revision), server.request("/matches", query=graph_query())):
        error = body(answer)["error"]
        assert answer.status_code == 404 and error["code"] == "gone"
        assert "not there any more: it was deleted, moved or renamed" in error["en"] and "downloaded as a file" in error["en"]
    assert not os.path.exists(run)


@pytest.mark.parametrize("reason, status, code", [
    (errno.EROFS, 403, "read_only"),
    (errno.EACCES, 403, "read_only"),
    (errno.ENOSPC, 507, "cannot_write"),
    (errno.EDQUOT, 507, "cannot_write"),
])
def test_a_full_disk_is_not_told_as_one_that_nobody_may_write_to(server, graph, monkeypatch, reason, status, code):
    write_matches(graph, [MATCH], [], NO_FILE)
    revision = read_matches(graph).revision

    def write(*_):
        raise OSError(reason, os.strerror(reason))
    monkeypatch.setattr("tb_graph_ascend.matches.write_atomically", write)
    answer = post(server, revision, matches=[])
    assert answer.status_code == status and body(answer)["error"]["code"] == code
    assert os.strerror(reason) in body(answer)["error"]["en"]
    assert read_matches(graph).matches == [MATCH]


def test_a_run_that_goes_while_it_is_written_is_told_as_that(server, graph, monkeypatch):
    def write(*_):
        raise FileNotFoundError(2, "No such file or directory")
    monkeypatch.setattr("tb_graph_ascend.edit_matches.write_matches", write)
    answer = post(server, NO_FILE)
    assert answer.status_code == 404 and body(answer)["error"]["code"] == "gone"


def test_entries_that_are_no_matches_are_refused(server):
    answer = post(server, NO_FILE, matches=[{"action": "delete everything", "target": "a", "golden": "b"}])
    assert answer.status_code == 422 and "action must be" in body(answer)["error"]["en"]


@pytest.mark.parametrize("headers, status, code", [
    ({"Sec-Fetch-Site": "cross-site"}, 403, "foreign_page"),
    ({"Sec-Fetch-Site": "same-site"}, 403, "foreign_page"),
    ({"Origin": "http://evil.example"}, 403, "foreign_page"),
    ({"Origin": "null"}, 403, "foreign_page"),
    ({"Content-Type": "text/plain"}, 415, "not_json"),
])
def test_a_page_of_another_site_cannot_write(server, graph, headers, status, code):
    answer = post(server, NO_FILE, headers=headers)
    assert (answer.status_code, body(answer)["error"]["code"]) == (status, code)
    assert not os.path.exists(graph.replace(".pb", ".matches.yaml"))


@pytest.mark.parametrize("host, allowed", [
    ("localhost", True), ("127.0.0.1", True), ("[::1]", True), ("192.0.2.7", True),
    ("evil.example", False), ("localhost.evil.example", False),
])
def test_a_name_that_was_pointed_at_this_machine_cannot_write(graph, tmp_path, host, allowed):
    assert post(Server(tmp_path, host=host), NO_FILE).status_code == (200 if allowed else 403)


def test_a_proxys_name_is_allowed_by_the_environment(graph, tmp_path, monkeypatch):
    answer = post(Server(tmp_path, host="hub.example"), NO_FILE)
    assert "TB_GRAPH_ASCEND_ALLOWED_HOSTS=hub.example" in body(answer)["error"]["en"]
    monkeypatch.setenv("TB_GRAPH_ASCEND_ALLOWED_HOSTS", "other, hub.example")
    assert post(Server(tmp_path, host="hub.example"), NO_FILE).status_code == 200


def test_nothing_is_written_for_a_run_that_was_not_listed(server, tmp_path):
    assert post(server, NO_FILE, run="../compare_1").status_code == 404


@pytest.mark.parametrize("content", [b"[]", b"{", b"", b'"text"'])
def test_a_body_that_is_no_object_is_refused(server, content):
    answer = server.request("/matches", method="POST", data=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/matches", "/rematch", "/propose"])
@pytest.mark.parametrize("said", [True, False], ids=["length said", "length not said"])
def test_a_request_that_is_too_large_is_refused_before_it_is_kept(server, monkeypatch, path, said):
    monkeypatch.setattr("tb_graph_ascend.request_checks.LARGEST_REQUEST", 1000)
    content = json.dumps({**graph_query(), "revision": NO_FILE, "matches": [], "note": "x" * 2000}).encode()
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    answer = server.request(path, method="POST", input_stream=io.BytesIO(content), content_type="application/json",
                            **({"content_length": len(content)} if said else {"environ_overrides": chunked}))
    assert answer.status_code == 413 and body(answer)["error"]["code"] == "too_large"


def test_what_could_be_written_but_never_read_again_is_refused(graph, monkeypatch):
    before = write_matches(graph, [MATCH], [], NO_FILE)
    monkeypatch.setattr(matches_module, "LARGEST", 1000)
    with pytest.raises(UserError, match="more than the 1000 that a matches file may have"):
        write_matches(graph, [MATCH] * 20, [], before.revision)
    assert read_matches(graph) == before


def test_a_file_is_parsed_once_as_long_as_nobody_writes_it(graph, monkeypatch):
    written = write_matches(graph, [MATCH], [TRIAGE], NO_FILE)
    monkeypatch.setattr(matches_module, "_parse", lambda content, path: pytest.fail("parsed again"))
    assert read_matches(graph) == written
    assert write_matches(graph, [], [], written.revision).matches == []


def test_a_named_pipe_in_the_place_of_the_file_does_not_stop_the_server(graph):
    os.mkfifo(matches_module.matches_path(graph))
    with pytest.raises(UserError, match="not a regular file"):
        read_matches(graph)


def test_a_body_of_very_many_brackets_is_no_failure_of_the_server(server):
    response = server.request("/matches", method="POST", data="[" * 200_000, headers={"Content-Type": "application/json"})
    assert (response.status_code, body(response)["error"]["code"]) == (400, "not_json")


@pytest.mark.parametrize(("number", "zh"), [(errno.ENOSPC, "磁盘空间不足"), (errno.EROFS, "文件系统只读"), (errno.EDQUOT, "超出磁盘配额")])
def test_why_a_file_cannot_be_written_is_said_in_both_languages(server, graph, monkeypatch, number, zh):
    def fail(path, chunks):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(matches_module, "write_atomically", fail)
    error = body(post(server, NO_FILE))["error"]
    assert os.strerror(number) in error["en"]
    assert error["zh"] == f"无法写入匹配文件：{zh}。"
    os.mkdir(matches_module.matches_path(graph))
    assert body(server.request("/matches", query=graph_query()))["error"]["zh"].endswith("：这是目录。")
