"""The measuring of conversions: growth is fitted right, children are counted, failures are told."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.convert import Result, exponent, tables
from bench.processes import CommandFailed, measure

MEGABYTE = 1_000_000


@given(st.floats(0.1, 3.0), st.floats(0.001, 1000.0), st.lists(st.integers(1_000, 2_000_000), min_size=2, max_size=5, unique=True))
def test_the_exponent_of_a_power_law_is_found(power, factor, nodes):
    assert exponent(nodes, [factor * count ** power for count in nodes]) == pytest.approx(power, abs=1e-5)


def test_there_is_no_exponent_of_one_size():
    assert math.isnan(exponent([1000, 1000], [1.0, 2.0]))


def test_processor_time_and_memory_of_children_count(tmp_path):
    child = "import time\nblock = bytearray(60_000_000)\nbegin = time.process_time()\nwhile time.process_time() - begin < 0.2: pass"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}], check=True)"
    measured = measure([sys.executable, "-c", parent], str(tmp_path), memory=True)
    assert measured.cpu >= 0.2
    assert measured.wall >= 0.2
    assert measured.largest > 60 * MEGABYTE
    assert measured.together > 60 * MEGABYTE


def test_a_command_that_fails_tells_its_exit_code_and_last_words(tmp_path):
    with pytest.raises(CommandFailed, match=r"exit code 3(.|\n)*no such dump"):
        measure([sys.executable, "-c", "print('no such dump'); raise SystemExit(3)"], str(tmp_path))


def test_the_tables_hold_ratios_stages_growth_and_failures():
    sizes = []
    for nodes in (1_000, 10_000):
        base = Result("json.load", nodes, 2_000_000, wall=nodes / 1000, cpu=nodes / 1000, largest=10 * MEGABYTE)
        ours = Result("graph-convert", nodes, 2_000_000, wall=nodes / 500, cpu=nodes / 250, largest=20 * MEGABYTE, together=30 * MEGABYTE,
                      output_bytes=nodes, stages={"read": nodes / 1000})
        sizes.append([base, ours, Result("peer", nodes, 2_000_000, failed="exit code 1")])
    text = tables(sizes)
    first = next(line.split() for line in text.splitlines() if "graph-convert" in line)
    assert first[2:6] == ["2.00", "2.00", "4.00", "4.00"]  # wall, ratio, CPU, ratio
    assert "graph-convert 1.00 1.00 0.00 1.00 1.00" in " ".join(text.split())
    assert "peer at 10000 nodes: exit code 1" in text
