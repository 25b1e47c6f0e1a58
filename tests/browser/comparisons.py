"""The log directories of the browser tests: graph-convert over the real dumps, and over made-up ones of unusual shape."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

import hostile
from dump_files import tensor, write_dump
from panel_steps import DATA
from tensorboard_process import TOP
from viewer import run_named

MANY = 10_000
ENTRY = {"input_args": [tensor()], "input_kwargs": {}, "output": [tensor()]}
SETS = f"{DATA}/megatron_vs_hf"


def convert(output: str, *arguments: str) -> None:
    """graph-convert in a process of its own."""
    command = [sys.executable, "-m", "converter.cli", *arguments, "-o", output]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def convert_all(logs: Path, runs: dict[str, tuple[str, ...]]) -> str:
    """One conversion for each of `runs`, into the folder of its name below `logs`; returns `logs`."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda run: convert(str(logs / run), *runs[run]), runs))
    return str(logs)


def write_calm_logs(logs: Path) -> str:
    """See the fixture `logs`."""
    mapping = os.path.join(TOP, "mappings", "megatron_core_to_hf_qwen2.yaml")
    return convert_all(logs, {
        "qwen2": ("-tp", f"{DATA}/qwen2_24l_mix_stat/target", "-gp", f"{DATA}/qwen2_24l_mix_stat/golden"),
        "megatron": ("-tp", f"{SETS}/megatron", "-gp", f"{SETS}/hf", "-lm", mapping),
        "build": ("-tp", f"{DATA}/ms_cnn_mix_stat/target"),
    })


def write_bug_logs(folder: Path) -> str:
    """See the fixture `bug_logs`. The dumps of "tensor" are copies beside the log directory: a test takes one away for a moment."""
    for shape, dump in (("wide", wide_dump()), ("deep", deep_dump())):
        write_dump(folder / shape / "step0" / "rank0", dict.fromkeys(dump, ENTRY), dump, indent=None)
    for name in ("megatron_tensor_bug_qkv_bias_layer2", "hf_tensor_layer2"):
        shutil.copytree(f"{SETS}/{name}", folder / name)
    return convert_all(folder / "logs", {
        "qkv": ("-tp", f"{SETS}/megatron_bug_qkv_bias", "-gp", f"{SETS}/hf"),
        "ranks": ("-tp", f"{DATA}/dist_tp2pp2/target", "-gp", f"{DATA}/dist_tp2pp2/golden"),
        "nan": ("-tp", f"{SETS}/megatron_bug_nan", "-gp", f"{SETS}/hf", "--overflow_check"),
        "tensor": ("-tp", str(folder / "megatron_tensor_bug_qkv_bias_layer2"), "-gp", str(folder / "hf_tensor_layer2")),
        "build": ("-tp", f"{SETS}/megatron_bug_qkv_bias"),
        "wide": ("-tp", str(folder / "wide"), "-gp", str(folder / "wide")),
        "deep": ("-tp", str(folder / "deep"), "-gp", str(folder / "deep")),
    })


def write_own_logs(folder: Path) -> str:
    """See the fixture `writable_logs`."""
    for side, scale in (("target", 1.5), ("golden", 1.0)):
        hostile.write_hostile_dump(folder / side, scale)
    logs = convert_all(folder / "logs", {
        "qkv": ("-tp", f"{SETS}/megatron_bug_qkv_bias", "-gp", f"{SETS}/hf"),
        "doubtful": ("-tp", f"{DATA}/mindspore_vs_torch/mindspore", "-gp", f"{SETS}/megatron"),
        hostile.RUN: ("-tp", str(folder / "target"), "-gp", str(folder / "golden")),
    })
    shutil.copytree(os.path.join(logs, "qkv"), os.path.join(logs, "next"))
    shutil.copytree(os.path.join(logs, "qkv"), os.path.join(logs, "several"))
    run = Path(logs, run_named(logs, "several"))
    (run / "manifest.json").unlink()
    (run / "step1").mkdir()
    for name in ("step0/rank1.pb", "step0/rank2.pb", "step1/rank0.pb"):
        shutil.copy(run / "step0" / "rank0.pb", run / name)
    return logs


def wide_dump() -> dict[str, Optional[str]]:
    """Ten thousand modules in one, as construct.json says it."""
    net = "Module.model.网络.Net.forward.0"
    return {net: None, **{f"Module.model.层{number}.线性层.forward.0": net for number in range(MANY)}}


def deep_dump() -> dict[str, Optional[str]]:
    """Ten thousand modules, each in the one before."""
    names = [f"Module.model.d{number}.Block.forward.0" for number in range(MANY)]
    return dict(zip(names, [None, *names]))
