"""Tells from a call stack whether a call is a recomputation (activation checkpointing) inside backward."""

from __future__ import annotations

import re

from converter.dumps.columns import Dump

_FRAME = re.compile(r"\s*File (?P<path>.*), line -?\d+, in (?P<function>[^,\n]+)")
_FRAMES_TO_ENGINE = 2  # a custom backward function is called by torch/autograd/function.py within this many frames


def runs_in_backward(stack: tuple[str, ...]) -> bool:
    """Whether a call stack (innermost frame first) shows a recomputation of torch, Megatron or another checkpoint function."""
    frames = []
    for line in stack:
        match = _FRAME.match(line)
        frames.append((tuple(re.split(r"[\\/]", match["path"])), match["function"].strip()) if match else ((), ""))
    for i, (path, function) in enumerate(frames):
        if path[-3:] == ("torch", "utils", "checkpoint.py") and function == "recompute_fn":
            return True
        if function == "backward" or (function == "checkpoint_function_backward" and "megatron" in path):
            outer = frames[i + 1:i + 1 + _FRAMES_TO_ENGINE]
            if any(path[-3:] == ("torch", "autograd", "function.py") for path, _ in outer):
                return True
    return False


def stack_runs_in_backward(dump: Dump, node: int, known: dict[int, bool]) -> bool:
    """The same for the stack of a node; False where it has none. `known` keeps the answers, one a distinct stack."""
    number = int(dump.stack[node])
    if number < 0:
        return False
    if number not in known:
        known[number] = runs_in_backward(dump.stacks[number])
    return known[number]
