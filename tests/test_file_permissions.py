"""Dumps and output directories of others: what may be read is converted, what may not be written is said."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CNN, convert, files_below, refused
from small_dumps import SAME, write_dump


@pytest.fixture
def stranger() -> Iterator[Path]:
    """A directory that everybody can reach, in a test that has no special rights."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    convert("-tp", CNN / "target", "-gp", CNN / "golden", "-o", folder / "warm")  # imports need rights that may be lost below
    shutil.rmtree(folder / "warm")
    root = os.geteuid() == 0
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for place, names, _ in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(place, name), 0o755)
        shutil.rmtree(folder)


def become_stranger() -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)


def lock(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_dumps_of_others_that_nobody_may_write_to_are_read(stranger: Path) -> None:
    shutil.copytree(CNN, stranger / "dumps")
    lock(stranger / "dumps")
    (stranger / "out").mkdir()
    (stranger / "out").chmod(0o777)
    become_stranger()
    run = convert("-tp", stranger / "dumps/target", "-gp", stranger / "dumps/golden", "-o", stranger / "out")
    assert run.code == 0, run
    shutil.rmtree(run.directory)


def test_an_output_directory_that_cannot_be_written_to(stranger: Path) -> None:
    write_dump(str(stranger / "dump"), SAME)
    (stranger / "out").mkdir()
    lock(stranger / "out")
    become_stranger()
    said = refused("-tp", stranger / "dump", "-o", stranger / "out")
    assert str(stranger / "out") in said and said.endswith("cannot be written: Permission denied")
    assert files_below(stranger / "out") == []


def test_an_output_directory_that_cannot_be_made(stranger: Path) -> None:
    write_dump(str(stranger / "dump"), SAME)
    become_stranger()
    assert refused("-tp", stranger / "dump", "-o", stranger / "new") == (
        f"the output directory {stranger}/new cannot be made: Permission denied: choose another one with -o")


def test_a_dump_that_may_not_be_read(stranger: Path) -> None:
    dump = Path(write_dump(str(stranger / "dump"), SAME))
    (dump / "dump.json").chmod(0o000)
    (stranger / "out").mkdir()
    (stranger / "out").chmod(0o777)
    become_stranger()
    assert refused("-tp", dump, "-o", stranger / "out") == f"{dump}/dump.json cannot be read: Permission denied"
