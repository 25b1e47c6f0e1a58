"""The generator of large dumps: as the collector would have written them, and the same every time."""

from __future__ import annotations

import collections
import json
import os
import re

import pytest

from bench.dump_template import read_template
from bench.scale import SOURCE, node_count, parse_nodes, plan, write_side

FILES = ("dump.json", "construct.json", "stack.json")


@pytest.fixture(scope="module")
def template():
    return read_template(SOURCE)


@pytest.fixture(scope="module")
def stretched(template, tmp_path_factory):
    """Two copies of the layers, two micro steps: dump and construct without merging keys that occur twice."""
    directory = tmp_path_factory.mktemp("stretched") / "side"
    write_side(template, str(directory), 2, 2)
    found = {}
    for file in FILES:
        with open(directory / "step0" / "rank0" / file, encoding="utf-8") as stream:
            found[file] = json.load(stream, object_pairs_hook=list)
    return found


def test_one_copy_is_the_real_dump_byte_for_byte(template, tmp_path):
    write_side(template, str(tmp_path / "side"), 1, 1)
    for file in FILES:
        with open(os.path.join(SOURCE, file), "rb") as real, open(tmp_path / "side" / "step0" / "rank0" / file, "rb") as made:
            assert made.read() == real.read(), file


def test_every_name_is_written_once_and_every_parent_is_there(stretched):
    names = [name for name, _ in stretched["construct.json"]]
    data = [name for name, _ in dict(stretched["dump.json"])["data"]]
    assert len(set(names)) == len(names)
    assert len(set(data)) == len(data)
    assert {parent for _, parent in stretched["construct.json"]} <= {None, *names}
    assert [name for name in set(data) - set(names) if "parameters_grad" not in name] == []


def test_calls_of_an_api_are_numbered_without_gaps_in_call_order(stretched):
    numbers = collections.defaultdict(list)
    for name, _ in stretched["construct.json"]:
        found = re.fullmatch(r"((?:Tensor|Torch|Functional)\..+)\.(\d+)\.forward", name)
        if found:
            numbers[found[1]].append(int(found[2]))
    assert len(numbers) > 10
    assert all(sorted(found) == list(range(len(found))) for found in numbers.values())


def test_every_backward_call_bears_the_number_of_a_forward_call(template, stretched):
    names = {name for name, _ in stretched["construct.json"]}
    alone = [name for name in template.parents if name.endswith(".backward") and name[:-8] + "forward" not in template.parents]
    assert alone == []
    assert [name for name in names if name.endswith(".backward") and name[:-8] + "forward" not in names] == []


def test_layers_and_micro_steps_follow_on(template, stretched):
    names = {name for name, _ in stretched["construct.json"]}
    last = 2 * template.layers - 1
    assert f"Module.model.layers.{last}.Qwen2DecoderLayer.forward.1" in names
    assert f"Module.model.layers.{last + 1}.Qwen2DecoderLayer.forward.0" not in names


def test_the_count_is_that_of_the_files(template, stretched):
    names = {name for name, _ in stretched["construct.json"]} | {name for name, _ in dict(stretched["dump.json"])["data"]}
    assert node_count(template, 2, 2) == len(names)


@pytest.mark.parametrize("nodes", [5_000, 40_000, 100_000, 500_000, 1_000_000])
def test_a_plan_comes_near_to_the_size_asked_for(template, nodes):
    assert node_count(template, *plan(template, nodes)) == pytest.approx(nodes, rel=0.25)


def test_noise_changes_outputs_only_and_the_same_seed_gives_the_same_bytes(template, tmp_path):
    for name in ("first", "again"):
        write_side(template, str(tmp_path / name), 1, 1, noise=1.0, seed=2)
    texts = [(tmp_path / name / "step0" / "rank0" / "dump.json").read_bytes() for name in ("first", "again")]
    assert texts[0] == texts[1]
    data = json.loads(texts[0])["data"]
    assert [name for name, entry in data.items() if {**entry, "output": 0} != {**template.entries[name], "output": 0}] == []
    changed = [name for name, entry in data.items() if entry.get("output") != template.entries[name].get("output")]
    assert len(changed) > 0.8 * len(data)


@pytest.mark.parametrize(("text", "nodes"), [("5000", 5_000), ("100k", 100_000), ("1.5M", 1_500_000)])
def test_sizes_are_read_with_their_unit(text, nodes):
    assert parse_nodes(text) == nodes
