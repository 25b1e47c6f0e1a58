"""Runs graph-convert for the tests: in this process, or as a real one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from converter.cli import main

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests/data"
CNN = DATA / "ms_cnn_mix_stat"  # the smallest real pair: two runs that differ
RANKS = DATA / "dist_tp2pp2"  # four ranks


@dataclass(frozen=True)
class Run:
    """What a run of graph-convert gave back."""

    code: int
    out: str
    err: str

    @property
    def directory(self) -> Path:
        """The result, whose path is the last line of standard output."""
        return Path(self.out.splitlines()[-1])


def convert(*arguments: object) -> Run:
    """graph-convert in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Run(code, out.getvalue(), err.getvalue())


def refused(*arguments: object) -> str:
    """The one sentence with which graph-convert refuses these arguments (exit code 2)."""
    run = convert(*arguments)
    assert run.code == 2, run
    assert run.out == ""
    *before, sentence = run.err.splitlines()
    assert all(line.startswith("step ") for line in before), run.err
    assert sentence.startswith("graph-convert: ")
    return sentence[len("graph-convert: "):]


def start(*arguments: object, folder: Optional[Path] = None, **environment: str) -> subprocess.Popen[str]:
    """graph-convert as a process of its own. It hears signals also where the tests themselves were told to ignore them (nohup, `&`)."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen([sys.executable, "-m", "converter.cli", *map(str, arguments)], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path, **environment},
                            preexec_fn=_hear_signals)


def _hear_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def strict_json(text: str) -> Any:
    """Decoded JSON; NaN and Infinity, which JSON does not have, are refused."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def files_below(folder: Path) -> list[str]:
    """Relative paths of everything below a directory, hidden files included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def contents(folder: Path) -> dict[str, bytes]:
    """Relative path → bytes of all files below a directory."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
