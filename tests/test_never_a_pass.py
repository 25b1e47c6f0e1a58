"""Differences that must never pass, each as a person would meet it; and differences that are none."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from converter.judge.verdict import Cause
from tests.small_dumps import LINEAR, compared, entry, scalar, status_of, status_of_output, tensor

INF, NAN = math.inf, math.nan
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "+inf against -inf": (tensor(maximum=INF), tensor(maximum=-INF)),
    "inf against NaN": (tensor(maximum=INF), tensor(maximum=NAN)),
    "NaN against inf": (tensor(maximum=NAN), tensor(maximum=INF)),
    "a number against golden inf": (tensor(maximum=3.0), tensor(maximum=INF)),
    "NaN against a number": (tensor(NAN, NAN, NAN, NAN), tensor()),
    "NaN in the mean only": (tensor(mean=NAN), tensor()),
    "infinite norm against a finite one": (tensor(norm=INF), tensor()),
    "true against false": (tensor(True, True, None, None, dtype="torch.bool"), tensor(False, False, None, None, dtype="torch.bool")),
    "None against a tensor": (None, tensor()),
    "a tensor against None": (tensor(), None),
    "a number against a tensor": (scalar(3), tensor()),
    "complex statistics that differ": (
        tensor("(1+2j)", "(0+0j)", "(1+0j)", "3.0", dtype="torch.complex64"),
        tensor("(1-2j)", "(0+0j)", "(1+0j)", "3.0", dtype="torch.complex64"),
    ),
    "golden all zeros": (tensor(), tensor(0.0, 0.0, 0.0, 0.0)),
    "target all zeros": (tensor(0.0, 0.0, 0.0, 0.0), tensor()),
    "equal norm, wrong maximum": (tensor(maximum=5.0), tensor()),
    "equal norm, wrong mean": (tensor(mean=0.6), tensor()),
    "everything ten times": (tensor(10.0, -10.0, 1.0, 40.0), tensor()),
    "sign flipped": (tensor(1.0, -2.0, -0.1), tensor(2.0, -1.0, 0.1)),
    "another number of elements": (tensor(shape=(8, 4)), tensor(shape=(8, 5))),
    "an integer off by one": (tensor(7, 0, None, None, dtype="torch.int64"), tensor(8, 0, None, None, dtype="torch.int64")),
    "integers beyond 2^53 off by one": (
        tensor(2**60 + 1, 0, None, None, dtype="torch.int64"),
        tensor(2**60, 0, None, None, dtype="torch.int64"),
    ),
    "another scalar": (scalar(3), scalar(4)),
    "another text": (scalar("a"), scalar("b")),
    "True against False": (scalar(True), scalar(False)),
    "another checksum without statistics": (
        {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "md5": "0x1234567812345678"},
        {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "md5": "0x1234567812345679"},
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_real_difference_never_passes(name: str, tmp_path: Path) -> None:
    target, golden = DIFFERENT[name]
    assert status_of_output(str(tmp_path), target, golden) in ("warning", "error")


SAME: dict[str, tuple[Any, Any]] = {
    "equal": (tensor(), tensor()),
    "the same NaN on both sides": (tensor(NAN, NAN, NAN, NAN), tensor(NAN, NAN, NAN, NAN)),
    "the same infinities (a mask)": (tensor(0.0, -INF, -INF, INF), tensor(0.0, -INF, -INF, INF)),
    "infinities as texts": (tensor("inf", "-inf", "nan", "inf"), tensor(INF, -INF, NAN, INF)),
    "dtype in another spelling": (tensor(dtype="Float32"), tensor(dtype="torch.float32")),
    "another layout": (tensor(shape=(4, 8)), tensor(shape=(8, 4))),
    "rounding of float32": (tensor(1.0000002, -1.0, 0.1, 4.0000005), tensor()),
    "rounding of bfloat16 against float32": (tensor(1.004, -1.0, 0.1002, 4.003, dtype="torch.bfloat16"), tensor()),
    "a mean near zero": (tensor(mean=1e-9), tensor(mean=-2e-9)),
    "empty tensors": (tensor(None, None, None, None, shape=(0, 4)), tensor(None, None, None, None, shape=(0, 4))),
    "no gradient wanted on one side": (tensor(requires_grad=False), tensor()),
    "the same number as int and float": (scalar(2), scalar(2)),
    "another device": (scalar("npu:0", "torch.device"), scalar("cuda:0", "torch.device")),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_no_difference_passes(name: str, tmp_path: Path) -> None:
    target, golden = SAME[name]
    if "requires_grad" in target and target is not golden and not target["requires_grad"]:
        target = {**target, "requires_grad": False}
    assert status_of_output(str(tmp_path), target, golden) == "pass"


def test_things_of_another_kind_are_not_comparable_between_different_code(tmp_path: Path) -> None:
    mine = "Module.net.fc.MyLinear.forward.0"
    mask, additive = tensor(True, False, None, None, dtype="torch.bool"), tensor(0.0, -INF, -INF, INF)
    found = compared(
        str(tmp_path),
        {mine: entry([], [tensor()], kwargs={"attention_mask": mask})},
        {LINEAR: entry([], [tensor()], kwargs={"attention_mask": additive})},
    )
    assert status_of(found, mine) == "pass"
    assert 4 in found.verdicts.row_status.tolist()


def test_a_node_is_not_comparable_where_none_of_its_outputs_is_whatever_its_inputs_say(tmp_path: Path) -> None:
    mine = "Module.net.fc.MyLinear.forward.0"
    mask, additive = tensor(True, False, None, None, dtype="torch.bool"), tensor(0.0, -INF, -INF, INF)
    found = compared(str(tmp_path), {mine: entry([tensor()], [mask])}, {LINEAR: entry([tensor()], [additive])})
    assert status_of(found, mine) == "not_comparable"
    pair = int(found.pairing.pair_of_target[found.target.tree.names.index(mine)])
    assert found.verdicts.cause[pair] == Cause.NONE
    more = compared(str(tmp_path / "more"), {mine: entry([tensor()], [mask, tensor()])}, {LINEAR: entry([tensor()], [additive, tensor()])})
    assert status_of(more, mine) == "pass"


def test_a_tensor_that_only_one_side_has_is_an_error_in_the_same_code(tmp_path: Path) -> None:
    found = compared(str(tmp_path), {LINEAR: entry([tensor()], [tensor(), tensor()])}, {LINEAR: entry([tensor()], [tensor()])})
    assert status_of(found, LINEAR) == "error"


def test_swapped_keyword_arguments_are_joined_by_name(tmp_path: Path) -> None:
    a, b = tensor(1.0, -1.0, 0.0, 3.0), tensor(9.0, -9.0, 0.0, 30.0)
    found = compared(
        str(tmp_path), {LINEAR: entry([], [tensor()], kwargs={"x": a, "y": b})}, {LINEAR: entry([], [tensor()], kwargs={"y": b, "x": a})}
    )
    assert status_of(found, LINEAR) == "pass"


def test_a_module_path_with_the_word_output_is_no_output(tmp_path: Path) -> None:
    name = "Module.net.output.dense.Linear.forward.0"
    found = compared(
        str(tmp_path),
        {name: entry([tensor()], [tensor()], {"weight": tensor(2.0, -2.0, 0.2, 8.0)})},
        {name: entry([tensor()], [tensor()], {"weight": tensor()})},
    )
    assert found.verdicts.forward is not None and found.verdicts.forward.kind == "parameter"


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=32),
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from(["nan", "inf", "-inf", "(1+2j)", ""]),
)
leaf = st.one_of(
    st.none(),
    st.builds(dict),
    st.builds(scalar, st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.booleans())),
    st.builds(
        tensor,
        numbers,
        numbers,
        numbers,
        numbers,
        st.sampled_from([(), (0,), (3,), (2, 3), (3, 2), (1, 2, 3)]),
        st.sampled_from(["torch.float32", "Float32", "torch.bfloat16", "torch.int64", "torch.bool", "torch.complex64", "weird", ""]),
    ),
    st.just({"type": "slice", "value": [0, None, 2]}),
    st.just({"type": "torch.Size", "value": [2, 3]}),
    st.just({"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "1"}),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(target=leaf, golden=leaf)
def test_no_leaf_crashes_and_a_non_finite_difference_never_passes(target: Any, golden: Any, tmp_path: Path) -> None:
    status = status_of_output(str(tmp_path), target, golden)
    mirrored = status_of_output(str(tmp_path), golden, target)
    assert (status == "pass") == (mirrored == "pass")
    if isinstance(target, dict) and isinstance(golden, dict) and "dtype" in target and "dtype" in golden:
        for key in ("Max", "Min", "Mean", "Norm"):
            a, b = target.get(key), golden.get(key)
            if isinstance(a, float) and isinstance(b, float) and not (math.isfinite(a) and math.isfinite(b)) and repr(a) != repr(b):
                assert status != "pass"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(factor=st.floats(1e-6, 1e6), error=st.floats(0, 0.5))
def test_a_verdict_does_not_depend_on_the_unit(factor: float, error: float, tmp_path: Path) -> None:
    def of(scale: float) -> str:
        return status_of_output(
            str(tmp_path), tensor(scale * (1 + error), -scale, 0.1 * scale, 4 * scale), tensor(scale, -scale, 0.1 * scale, 4 * scale)
        )

    near = any(abs(error - limit) < 1e-9 for limit in (5e-5, 1.5e-4))
    assert near or of(1.0) == of(factor)


def test_a_gradient_that_is_only_handed_on_is_not_compared_with_a_computed_one(tmp_path: Path) -> None:
    activation, weight, result, gradient = tensor(3.0), tensor(2.0), tensor(5.0, shape=(8, 1)), tensor(0.4, -0.4, 0.01, 0.9, shape=(8, 1))
    computed = tensor(0.7, -0.6, 0.02, 1.7)

    def calls(number: int, incoming: dict[str, Any], outgoing: dict[str, Any]) -> dict[str, Any]:
        return {
            f"Functional.linear.{number}.forward": entry([activation, weight], [result]),
            f"Functional.linear.{number}.backward": {"input": [incoming], "output": [outgoing]},
        }

    handed_on = {**gradient, "shape": [2, 4, 1]}
    found = compared(str(tmp_path), calls(0, handed_on, gradient), calls(1, gradient, computed))
    assert status_of(found, "Functional.linear.0.forward") == "pass"
    assert status_of(found, "Functional.linear.0.backward") == "pass"
    both = compared(str(tmp_path), calls(0, gradient, {**computed, "Norm": 1.9}), calls(1, gradient, computed))
    assert status_of(both, "Functional.linear.0.backward") == "error"
