"""Feeds graph-convert with damaged dumps and counts what it does: never a traceback or a warning of Python, never a
hang, never something half-written.

    python -m bench.break_convert --count 2000 --seed 1

Every case is a real dump with one to four random damages (mutations.py) on one side. A case that breaks the converter is
printed with its number and kept: `--only NUMBER` repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Optional

from bench.mutations import damage, read_documents
from converter.cli import main as convert

DATA = Path(__file__).parent.parent / "tests/data"
SOURCES = ("ms_cnn_mix_stat/golden/step0/rank0", "megatron_vs_hf/hf/step0/rank0", "megatron_vs_hf/megatron_2steps_2micro/step0/rank0",
           "qwen2_24l_L0_md5/golden/step0/rank0", "dist_tp2pp2/golden/step0/rank0", "recompute/non_reentrant/step0/proc101",
           "megatron_vs_hf/hf_tensor_layer2/step0/rank0")
SECONDS = 20  # a case that takes longer hangs


def sources(entries: int = 40) -> list[dict[str, Any]]:
    """Documents of the real dumps that are damaged."""
    return [read_documents(DATA / name, entries) for name in SOURCES]


def run_case(number: int, documents: list[dict[str, Any]], folder: Path, same_source: bool = False) -> tuple[int, str]:
    """One damaged dump against a whole one: (exit code, what is wrong with how it was treated; "" = nothing)."""
    generator = random.Random(number)
    one = documents[number % len(documents)]
    other = one if same_source or generator.random() < 0.8 else generator.choice(documents)
    done = damage(generator, one, folder / "damaged")
    (folder / "whole").mkdir(exist_ok=True)
    for name, document in other.items():
        (folder / "whole" / name).write_text(json.dumps(document), encoding="utf-8")
    first, second = ("-tp", "-gp") if generator.random() < 0.7 else ("-gp", "-tp")
    sides = [first, str(folder / "damaged"), second, str(folder / "whole")]
    if first == "-tp" and generator.random() < 0.1:
        sides = sides[:2]  # a single graph
    match, policy = generator.choice(["auto", "auto", "exact", "fuzzy", "mapping"]), generator.choice(["default", "default", "msprobe"])
    words = [*sides, "-o", str(folder / "out"), "-oc", "--jobs", "1", "--match", match, "--policy", policy]
    for name in ("report", "pairs", "csv", "junit"):
        words += [f"--{name}", str(folder / name)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: Any = convert(words)
        except BaseException as error:  # the very thing that must not happen
            return -1, f"{type(error).__name__}: {error}; {done}"
    return code, _fault(code, err.getvalue(), folder, done)


def _fault(code: int, said: str, folder: Path, done: list[str]) -> str:
    written = sorted(path.name for path in folder.iterdir() if path.name not in ("damaged", "whole"))
    if any(text in said for text in ("a fault of graph-convert", "Traceback", "Warning:")) or code not in (0, 2, 3):
        return f"exit code {code}: {said.strip()[-400:]}; {done}"
    if code == 2 and (written or not said.startswith(("graph-convert: ", "step "))):
        return f"exit code 2 leaves {written} and says {said[-300:]!r}; {done}"
    if code != 2:
        hidden = [path.name for path in (folder / "out").iterdir() if path.name.startswith(".")]
        if hidden:
            return f"left behind: {hidden}; {done}"
        json.loads((folder / "report").read_text(encoding="utf-8"), parse_constant=_refuse)
    return ""


def _refuse(name: str) -> None:
    raise ValueError(f"the report holds {name}")


def _too_long(number: int, frame: Optional[object]) -> None:
    raise TimeoutError(f"longer than {SECONDS} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="cases (default 500)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case (default 0)")
    parser.add_argument("--only", type=int, help="one case, by its number")
    parser.add_argument("--keep", help="directory for the cases that break something")
    arguments = parser.parse_args()
    documents = sources()
    numbers = [arguments.only] if arguments.only is not None else range(arguments.seed, arguments.seed + arguments.count)
    codes: Counter[int] = Counter()
    broken, longest = 0, 0.0
    signal.signal(signal.SIGALRM, _too_long)
    for number in numbers:
        folder = Path(tempfile.mkdtemp(prefix="tb_graph_ascend_break_"))
        begin = time.monotonic()
        signal.alarm(SECONDS)
        code, fault = run_case(number, documents, folder)
        signal.alarm(0)
        longest = max(longest, time.monotonic() - begin)
        codes[code] += 1
        if fault:
            broken += 1
            print(f"case {number}: {fault}", flush=True)
            if arguments.keep:
                shutil.copytree(folder, Path(arguments.keep) / str(number), dirs_exist_ok=True)
        shutil.rmtree(folder)
    told = ", ".join(f"{count} × exit code {code}" for code, count in sorted(codes.items()))
    print(f"{sum(codes.values())} cases: {told}; longest {longest:.1f} s; {broken} broke something")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
