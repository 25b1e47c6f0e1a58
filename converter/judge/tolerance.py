"""The tolerance of every row: from the less precise dtype, the role, the rules of the policy and the noise of the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.compare.dtypes import EPSILON, canonical, category
from converter.dumps.columns import Leaves, Role
from converter.judge.policy import Policy
from converter.judge.row_columns import on_either_side, translated
from converter.judge.row_facts import RowFacts
from converter.match.pairing import Pairing
from converter.tree.graph import Graph

# Rows of a run's clean part that must be there before its noise is estimated.
FEWEST_QUIET_ROWS = 8
# Share of the floating outputs that must have a dtype for its rounding to be expected everywhere.
NOTABLE_SHARE = 0.1


@dataclass(frozen=True)
class Tolerances:
    """Columns over rows. Errors are compared after division by the factor of their statistic."""

    warning: NDArray[np.float64]
    error: NDArray[np.float64]
    epsilon: NDArray[np.float64]  # machine epsilon of the less precise side
    statistic_factor: NDArray[np.float64]  # [4]


def tolerance_key(dtype: str) -> str:
    """The key of Policy.tolerances for a dtype as a dump spells it."""
    name = canonical(dtype)
    if name.startswith(("float8", "hifloat8", "float4")):
        return "float8"
    kind = category(dtype)
    if kind in ("complex", "integer", "boolean"):
        return kind
    return name if name in ("float64", "float32", "float16", "bfloat16", "tensorfloat32") else "other"


def row_tolerances(comparison: Comparison, facts: RowFacts, pairing: Pairing, target: Graph, policy: Policy) -> Tolerances:
    """Tolerances by dtype, role and rule; without the noise of the run."""
    warning_t, error_t, epsilon_t = _by_dtype(comparison.target, comparison.target_row, policy)
    warning_g, error_g, epsilon_g = _by_dtype(comparison.golden, comparison.golden_row, policy)
    parameter = facts.role == Role.PARAMETER
    epsilon = np.maximum(epsilon_t, epsilon_g)
    for leaves, rows in ((comparison.target, comparison.target_row), (comparison.golden, comparison.golden_row)):
        dtype = run_dtype(leaves, rows, facts)
        if dtype:
            carries = (epsilon > 0) & ~parameter
            limit = policy.tolerances[tolerance_key(dtype)]
            warning_t[carries] = np.maximum(warning_t[carries], limit.warning)
            error_t[carries] = np.maximum(error_t[carries], limit.error)
            epsilon[carries] = np.maximum(epsilon[carries], EPSILON[canonical(dtype)])
    factor = np.where(
        parameter,
        policy.role_factor.get("parameter", 1.0),
        np.where(facts.backward, policy.role_factor.get("gradient", 1.0), policy.role_factor.get("activation", 1.0)),
    )
    warning = np.maximum(warning_t, warning_g) * factor
    error = np.maximum(error_t, error_g) * factor
    _apply_rules(comparison, facts, pairing, target, policy, warning, error)
    return Tolerances(warning, error, epsilon, np.array(policy.statistic_factor))


def run_dtype(leaves: Leaves, rows: NDArray[np.int64], facts: RowFacts) -> str:
    """The least precise floating dtype that a notable share of a side's outputs has; "" without any.

    Its rounding is in every tensor of the run, also in those that were converted to a more precise type on the way
    (a norm that computes in float32 inside a bfloat16 model).
    """
    outputs = rows[(facts.role == Role.OUTPUT) & (rows >= 0)]
    counts = np.bincount(leaves.dtype[outputs][leaves.dtype[outputs] >= 0], minlength=len(leaves.strings)) if len(outputs) else np.zeros(0)
    floating = [(text, count) for text, count in zip(leaves.strings, counts.tolist()) if count and category(text) == "float"]
    total = sum(count for _, count in floating)
    common = [text for text, count in floating if count >= NOTABLE_SHARE * total]
    return max(common, key=lambda text: EPSILON[canonical(text)], default="")


def _by_dtype(
    leaves: Leaves, rows: NDArray[np.int64], policy: Policy
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    keys = [tolerance_key(text) for text in leaves.strings] + ["integer"]
    table = {key: policy.tolerances[key] for key in set(keys)}
    warning = np.array([table[key].warning for key in keys])
    error = np.array([table[key].error for key in keys])
    epsilon = np.array([EPSILON.get(canonical(text), 0.0) for text in leaves.strings] + [0.0])
    return translated(warning, leaves.dtype, rows), translated(error, leaves.dtype, rows), translated(epsilon, leaves.dtype, rows)


def _apply_rules(
    comparison: Comparison,
    facts: RowFacts,
    pairing: Pairing,
    target: Graph,
    policy: Policy,
    warning: NDArray[np.float64],
    error: NDArray[np.float64],
) -> None:
    if not policy.rules:
        return
    by_name = any(rule.nodes.pattern for rule in policy.rules)
    names = [target.tree.names[node] for node in pairing.first_target_nodes().tolist()] if by_name else []
    role_names = {Role.INPUT: "input", Role.KWARG: "input", Role.PARAMETER: "parameter", Role.OUTPUT: "output", Role.GRADIENT: "gradient"}
    for rule in policy.rules:
        hit = np.ones(comparison.rows, np.bool_)
        if rule.nodes.pattern:
            hit = np.array([bool(rule.nodes.search(name)) for name in names] or [False], np.bool_)[facts.pair]
        if rule.roles:
            hit &= np.isin(facts.role, [role for role, name in role_names.items() if name in rule.roles])
        if rule.dtypes:
            hit &= on_either_side(comparison, partial(_has_dtype, rule.dtypes))
        if rule.warning is not None:
            warning[hit] = rule.warning
        if rule.error is not None:
            error[hit] = rule.error


def _has_dtype(wanted: frozenset[str], leaves: Leaves, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    return translated(np.array([canonical(text) in wanted for text in leaves.strings] + [False]), leaves.dtype, rows)


def worst_statistic(comparison: Comparison, tolerances: Tolerances) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    """(statistic 0..3 or 255, its error, its error divided by its factor) of every row; NaN where nothing was measured.

    In tensor mode the relative norm error over the elements takes part as statistic 4.
    """
    weighted = comparison.errors / tolerances.statistic_factor
    raw = comparison.errors
    elements = comparison.metrics.get("Relative Norm Err")
    if elements is not None:
        weighted = np.concatenate([weighted, elements[:, None]], axis=1)
        raw = np.concatenate([raw, elements[:, None]], axis=1)
    filled = np.where(np.isnan(weighted), -1.0, weighted)
    statistic = filled.argmax(axis=1) if len(filled) else np.zeros(0, np.int64)
    rows = np.arange(len(filled))
    measured = filled[rows, statistic] >= 0 if len(filled) else np.zeros(0, np.bool_)
    return (
        np.where(measured, statistic, 255).astype(np.uint8),
        np.where(measured, raw[rows, statistic], np.nan),
        np.where(measured, weighted[rows, statistic], np.nan),
    )


def widen_by_noise(
    tolerances: Tolerances, weighted: NDArray[np.float64], usable: NDArray[np.bool_], policy: Policy
) -> tuple[Tolerances, float]:
    """Widen the tolerances to the noise that the run shows before it first diverges.

    Args:
        weighted: error of every row in units of its statistic factor.
        usable: [rows] bool, forward outputs of floating type, in call order.
    Returns:
        the tolerances and the factor that was applied (1 = unchanged).
    """
    rows = np.flatnonzero(usable & ~np.isnan(weighted))
    share = weighted[rows] / np.where(tolerances.warning[rows] > 0, tolerances.warning[rows], np.inf)
    diverged = np.flatnonzero(share > 1.0)
    quiet = share[: int(diverged[0])] if len(diverged) else share
    if len(quiet) < FEWEST_QUIET_ROWS:
        return tolerances, 1.0
    factor = float(np.clip(policy.noise_times * np.median(quiet), 1.0, policy.noise_most))
    return Tolerances(tolerances.warning * factor, tolerances.error * factor, tolerances.epsilon, tolerances.statistic_factor), factor
