"""The verdict of every pair: worst row, largest errors, and why its outputs differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from converter.dumps.columns import Role
from converter.judge import reasons
from converter.judge.policy import Policy
from converter.judge.row_facts import INPUTS, RowFacts
from converter.judge.rows import RowVerdicts
from converter.judge.verdict import Cause, Status
from converter.match.pairing import Pairing
from converter.tree.columns import Direction, NodeKind
from converter.tree.graph import Graph

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PairFacts:
    """Columns over pairs."""

    node: NDArray[np.int64]  # first target node
    status: NDArray[np.uint8]
    reasons: NDArray[np.uint32]
    error: NDArray[np.float64]  # of outputs and gradients; NaN = not measured
    input_error: NDArray[np.float64]
    parameter_error: NDArray[np.float64]
    bad_input: Flags  # an input is beyond its tolerance, or differs otherwise
    bad_parameter: Flags
    bad_output: Flags
    has_input: Flags  # an input was judged
    has_output: Flags  # an output or gradient was judged
    nonfinite: Flags  # a differing row is not finite


def pair_facts(facts: RowFacts, rows: RowVerdicts, pairing: Pairing) -> PairFacts:
    """Gather the rows of every pair. Status: the worst row; not comparable where nothing was compared, or of its outputs nothing."""
    count = pairing.count
    inputs = np.isin(facts.role, INPUTS)
    parameters = facts.role == Role.PARAMETER
    outputs = ~inputs & ~parameters
    bad = (rows.status == Status.WARNING) | (rows.status == Status.ERROR)
    judged = (rows.status >= Status.PASS) & (rows.status <= Status.ERROR)

    def any_row(where: Flags) -> Flags:
        return np.bincount(facts.pair[where], minlength=count) > 0 if count else np.zeros(0, np.bool_)

    status = np.full(count, Status.NOT_COMPARABLE, np.uint8)
    for level in (Status.PASS, Status.WARNING, Status.ERROR):
        status[any_row(rows.status == level)] = level
    # Equal inputs say nothing of a call: where none of its outputs could be compared, neither could the call. A gradient may be one
    # that is only handed on, and is looked at in the call that made it.
    results = outputs & ~facts.backward & ~facts.none_only
    status[any_row(results) & ~any_row(results & judged) & (status == Status.PASS)] = Status.NOT_COMPARABLE
    mask = np.zeros(count, np.uint32)
    np.bitwise_or.at(mask, facts.pair, rows.reasons)
    # Nothing on either side to compare (a structure dump, a call without data) is a reason too.
    mask[(status == Status.NOT_COMPARABLE) & (mask == 0)] = 1 << reasons.NOT_AVAILABLE.code
    noise = (rows.reasons & np.uint32(1 << reasons.NOISE.code)) != 0
    counted = (rows.status != Status.NOT_COMPARABLE) & (rows.status != Status.NONE) & ~noise
    return PairFacts(
        node=pairing.first_target_nodes(),
        status=status,
        reasons=mask,
        error=_largest(rows.error, facts.pair, outputs & counted, count),
        input_error=_largest(rows.error, facts.pair, inputs & counted, count),
        parameter_error=_largest(rows.error, facts.pair, parameters & counted, count),
        bad_input=any_row(bad & inputs),
        bad_parameter=any_row(bad & parameters),
        bad_output=any_row(bad & outputs),
        has_input=any_row(judged & inputs),
        has_output=any_row(judged & outputs),
        nonfinite=any_row(bad & ((rows.reasons & np.uint32(1 << reasons.NONFINITE.code)) != 0)),
    )


def _largest(error: NDArray[np.float64], pair: NDArray[np.int64], where: Flags, count: int) -> NDArray[np.float64]:
    result = np.full(count, -1.0)
    usable = where & ~np.isnan(error)
    np.maximum.at(result, pair[usable], error[usable])
    return np.where(result < 0, np.nan, result)


def causes(pairs: PairFacts, target: Graph, policy: Policy) -> NDArray[np.uint8]:
    """[pairs] Cause of each pair on its own; what lies inside a module is looked at by divergence.py."""
    cause = np.zeros(len(pairs.node), np.uint8)
    judged = (pairs.status >= Status.PASS) & (pairs.status <= Status.ERROR)
    fine_inputs = ~pairs.bad_input
    cause[judged] = Cause.CLEAN
    cause[judged & pairs.bad_output & fine_inputs] = Cause.INTRODUCED
    cause[judged & pairs.bad_parameter & fine_inputs] = Cause.PARAMETER
    with np.errstate(invalid="ignore"):
        amplified = pairs.error > policy.gain * pairs.input_error
    cause[judged & pairs.bad_input & pairs.bad_output] = Cause.INHERITED
    cause[judged & pairs.bad_input & pairs.bad_output & amplified] = Cause.AMPLIFIED
    cause[judged & pairs.bad_input & ~pairs.bad_output] = Cause.RECOVERED
    cause[judged & pairs.bad_input & ~pairs.bad_output & ~pairs.has_output] = Cause.INHERITED
    _from_other_ranks(cause, pairs, target, policy)
    _backward_follows_forward(cause, pairs, target)
    return cause


def _from_other_ranks(cause: NDArray[np.uint8], pairs: PairFacts, target: Graph, policy: Policy) -> None:
    """What a receiving communication API delivers differently was made on another rank."""
    tree = target.tree
    receives = np.array([*(name in policy.receiving for name in tree.labels), False])
    label = np.where(tree.kind[pairs.node] == NodeKind.API, tree.label[pairs.node], -1)
    cause[receives[label] & (cause == Cause.INTRODUCED)] = Cause.INHERITED


def _backward_follows_forward(cause: NDArray[np.uint8], pairs: PairFacts, target: Graph) -> None:
    """A backward call or a parameter gradient whose forward call already differs, or whose incoming gradient does, inherits."""
    tree = target.tree
    kind, direction, path = tree.kind[pairs.node], tree.direction[pairs.node], tree.path[pairs.node]
    has_path = np.array([bool(components) for components in tree.paths] or [False])[path]
    modules = (kind == NodeKind.MODULE) & has_path
    differs = pairs.bad_input | pairs.bad_output | pairs.bad_parameter
    forward_differs = np.zeros(len(tree.paths) or 1, np.bool_)
    forward_differs[path[modules & differs & (direction == Direction.FORWARD)]] = True
    call = path.astype(np.int64) * tree.micro_steps + tree.micro_step[pairs.node]
    incoming = np.unique(call[modules & pairs.bad_input & (direction == Direction.BACKWARD)])
    suspects = (cause == Cause.INTRODUCED) & (direction == Direction.BACKWARD) & (kind != NodeKind.API) & has_path
    follows = forward_differs[path] | ((kind == NodeKind.PARAMETERS_GRAD) & np.isin(call, incoming))
    cause[suspects & follows] = Cause.INHERITED


def settle_followers(
    cause: NDArray[np.uint8], pairs: PairFacts, culprit: int, phase: NDArray[np.uint8], wanted: int, policy: Policy
) -> None:
    """Behind the first divergence, errors that hover about the tolerance are no new causes.

    There a pair introduces an error only if it exceeds that of its inputs by the policy's gain, and if inputs were compared
    at all; and once forward has diverged, no gradient introduces anything.
    Args:
        culprit: pair of the first divergence, in the pass `wanted`; phase: [pairs] pass of each pair.
    """
    later = (np.arange(len(cause)) > culprit) & (cause == Cause.INTRODUCED)
    with np.errstate(invalid="ignore"):
        follows = (phase > wanted) | ~pairs.has_input | ((pairs.input_error > 0) & (pairs.error <= policy.gain * pairs.input_error))
    cause[later & follows] = Cause.INHERITED


def settle_enclosing(cause: NDArray[np.uint8], pairs: PairFacts, target: Graph, culprits: set[int]) -> None:
    """A module that encloses a culprit shows its difference but did not introduce it; `culprits` keep their cause."""
    tree = target.tree
    marks = np.zeros(tree.count, np.int64)
    marks[pairs.node[np.isin(cause, (Cause.PARAMETER, Cause.INTRODUCED, Cause.INHERITED, Cause.AMPLIFIED))]] = 1
    before = np.concatenate([[0], np.cumsum(marks)])
    for number in np.flatnonzero(cause == Cause.INTRODUCED).tolist():
        node = int(pairs.node[number])
        if number not in culprits and before[int(tree.end[node])] - before[node + 1] > 0:
            cause[number] = Cause.INHERITED
