"""What the converter says: codes and arguments, and that every sentence has a Chinese one in the viewer."""

from __future__ import annotations

import ast
import pickle
import re
from functools import lru_cache
from pathlib import Path

import pytest

from converter.errors import UserError
from converter.graphfile import graph_pb2
from converter.graphfile.messages import decode_message, encode_message
from converter.messages import Message, as_json, joined, message, of_json, with_replaced

TOP = Path(__file__).parent.parent
CHINESE = TOP / "static" / "src" / "i18n" / "messages"
PLACE = re.compile(r"\{(\w+)\}")
# Say something on a terminal only, which is English.
ENGLISH_ONLY = {"mapping_cli.py", "mapping_invert.py", "serve.py", "view_cli.py", "doctor.py", "export_page.py"}


@lru_cache
def all_calls() -> list[tuple[str, str, ast.Call]]:
    """(file, function, call) of the whole program"""
    files = [path for folder in ("converter", "tb_graph_ascend") for path in sorted((TOP / folder).rglob("*.py"))]
    return [
        (path.name, node.func.id, node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def calls(names: set[str]) -> list[tuple[str, ast.Call]]:
    return [(file, call) for file, function, call in all_calls() if function in names]


@lru_cache
def english() -> dict[str, str]:
    """code → template, of every message that the program can say"""
    found: dict[str, str] = {}
    for file, call in calls({"message"}):
        code, template = (part.value if isinstance(part, ast.Constant) else None for part in call.args[:2])
        assert isinstance(code, str) and isinstance(template, str), f"{file}, line {call.lineno}: write code and template as they are"
        assert found.setdefault(code, template) == template, f"{file}, line {call.lineno}: {code} already says something else"
    return found


@lru_cache
def chinese() -> dict[str, str]:
    """code → sentence, of the viewer's dictionaries"""
    text = "".join(path.read_text(encoding="utf-8") for path in CHINESE.glob("*.ts"))
    entries = re.findall(r"""^  '?([\w.]+)'?: (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"),$""", text, re.MULTILINE)
    return {code: (single or double).replace("\\'", "'") for code, single, double in entries}


def test_every_message_has_a_chinese_sentence_and_every_chinese_sentence_a_message():
    missing, unused = english().keys() - chinese().keys(), chinese().keys() - english().keys()
    assert not missing, f"add them in static/src/i18n/messages/: {sorted(missing)}"
    assert not unused, f"nobody says them any more: {sorted(unused)}"


def test_a_chinese_sentence_has_the_arguments_of_the_english_one():
    for code, template in english().items():
        assert set(PLACE.findall(chinese()[code])) == set(PLACE.findall(template)), code


def test_a_chinese_sentence_is_chinese():
    words_of_json = {"kind.boolean", "kind.null"}
    for code, sentence in chinese().items():
        assert re.search("[\u4e00-\u9fff：]", sentence) or code in words_of_json, code


def test_whatever_the_converter_refuses_is_a_message():
    for file, call in calls({"UserError", "error_at", "error_in"}):
        if file not in ENGLISH_ONLY:
            told = call.args[-1]
            assert not isinstance(told, (ast.JoinedStr, ast.Constant)), f"{file}, line {call.lineno}: make it with message()"


def test_a_message_is_its_english_sentence():
    said = message("x", "{count} nodes of {side} in {names}, {not_given}", count=3, side="golden", names=["a", "b"])
    assert said == "3 nodes of golden in a, b, {not_given}"
    assert isinstance(said, Message) and said.code == "x" and said.arguments == {"count": "3", "side": "golden", "names": ("a", "b")}


def test_an_argument_is_never_read_as_a_template():
    assert message("x", "{a} {b}", a="{b}", b="{a}") == "{b} {a}"


def test_messages_travel_between_processes_also_in_errors():
    said = message("outer", "in {place}: {why}", place="f.yaml", why=message("inner", "no {what}", what="name"))
    error = pickle.loads(pickle.dumps(UserError(said)))
    assert str(error) == "in f.yaml: no name"
    assert as_json(error.told) == as_json(said) == as_json(of_json(as_json(said)))
    assert error.told.arguments["why"].code == "inner"


def test_a_path_is_replaced_in_the_sentence_and_in_what_it_is_made_of():
    said = with_replaced(message("x", "{path} holds {names}", path="/tmp/m", names=("/tmp/m/a", "b")), "/tmp/m", "s3://m")
    assert said == "s3://m holds s3://m/a, b"
    assert said.arguments == {"path": "s3://m", "names": ("s3://m/a", "b")}


def test_several_messages_become_one():
    both = joined([message("a", "same name"), "q ~ query"])
    assert both == "same name; q ~ query"
    assert as_json(both)["arguments"]["parts"] == [{"code": "a", "text": "same name", "arguments": {}}, "q ~ query"]
    assert joined(["alone"]) == "alone" and joined([]) == ""


@pytest.mark.parametrize("with_text", [True, False])
def test_a_message_comes_back_from_a_graph_file_with_all_that_it_is_made_of(with_text):
    said = message("x", "{one}: {parts}, {single}, {plain}", one=message("y", "why {n}", n=1),
                   parts=("a", message("z", "bee")), single=("lone",), plain="text")
    encoded = graph_pb2.Message.FromString(encode_message(said, with_text).SerializeToString())
    back = decode_message(encoded, "" if with_text else said)
    assert back == said == "why 1: a, bee, lone, text"
    assert as_json(back)["arguments"] == {**as_json(said)["arguments"], "single": "lone"}


def test_files_of_older_converters_hold_english_only():
    old = graph_pb2.Message(text=graph_pb2.Text(en="as it was", zh="as it was"))
    assert decode_message(old) == "as it was" and not isinstance(decode_message(old), Message)
