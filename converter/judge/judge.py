"""Judging in order: facts of rows → verdict of rows → facts and causes of pairs → first divergence → parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import Role
from converter.judge.causes import PairFacts, causes, pair_facts, settle_enclosing, settle_followers
from converter.judge.decomposition import without_other_decompositions
from converter.judge.divergence import BACKWARD_PHASE, FORWARD_PHASE, Finding, children_of_pairs, find_first, phases
from converter.judge.place import Evidence, golden_parts, lone_calls, target_part, told_nodes
from converter.judge.policy import Policy
from converter.judge.row_facts import RowFacts, row_facts
from converter.judge.rows import RowVerdicts, judge_rows
from converter.judge.sentences import divergence_sentence, why_not_compared
from converter.judge.tied import without_tied_gradients
from converter.judge.verdict import Cause, FirstDivergence, ParameterDifference, Status, UncomparedParameters, Verdicts
from converter.match.pairing import Pairing
from converter.messages import message
from converter.tree.columns import NodeKind
from converter.tree.graph import Graph

_WORST_FIRST = (Cause.PARAMETER, Cause.INTRODUCED, Cause.AMPLIFIED, Cause.INHERITED)


def judge(comparison: Comparison, pairing: Pairing, target: Graph, golden: Graph, policy: Policy) -> Verdicts:
    """Judge a comparison under a policy. Needs the columns only, no dumps: a graph file can be judged again."""
    facts = row_facts(comparison, pairing, target, golden)
    phase = phases(target.tree)
    forward = phase[pairing.first_target_nodes()] == FORWARD_PHASE
    rows = judge_rows(comparison, facts, pairing, target, golden, forward, policy)
    pairs = pair_facts(facts, rows, pairing)
    settled = without_other_decompositions(comparison, facts, rows, pairs, pairing, target)
    if settled is not rows:
        rows, pairs = settled, pair_facts(facts, settled, pairing)
    cause = causes(pairs, target, policy)
    blamed = without_tied_gradients(cause, pairs, target)
    found = _first_findings(pairs, cause, blamed, target, phase.astype(np.int64), 1)[0]
    steps = target.tree.micro_steps if found else 1
    by_step = _first_findings(pairs, cause, blamed, target, phase + 2 * target.tree.micro_step.astype(np.int64), steps) if steps > 1 else []
    for wanted, finding in found.items():
        settle_followers(cause, pairs, finding.place if finding.place >= 0 else finding.seen, phase[pairs.node], wanted, policy)
    settle_enclosing(cause, pairs, target, {finding.place for finding in found.values()})
    status = _with_collections(pairs, cause, target)
    evidence = Evidence(comparison, rows, pairs, pairing, target, golden, target.node_of_row(), golden.node_of_row())
    return Verdicts(
        row_status=rows.status,
        row_reasons=rows.reasons,
        row_error=rows.error.astype(np.float32),
        row_statistic=rows.statistic,
        row_tolerance=rows.tolerance.astype(np.float32),
        notes=rows.notes,
        status=status,
        cause=cause,
        error=pairs.error.astype(np.float32),
        input_error=pairs.input_error.astype(np.float32),
        parameter_error=pairs.parameter_error.astype(np.float32),
        reasons=pairs.reasons,
        forward=_divergence(found.get(FORWARD_PHASE), evidence),
        backward=_divergence(found.get(BACKWARD_PHASE), evidence),
        micro_steps=[(_divergence(one.get(FORWARD_PHASE), evidence), _divergence(one.get(BACKWARD_PHASE), evidence)) for one in by_step],
        parameters=_parameters(facts, cause, evidence),
        uncompared_parameters=_uncompared_parameters(facts, evidence),
        policy_name=policy.name,
        policy_text=policy.text,
        warnings=_noise_message(rows),
    )


def _first_findings(
    pairs: PairFacts, cause: NDArray[np.uint8], blamed: NDArray[np.uint8], target: Graph, group: NDArray[np.int64], steps: int
) -> list[dict[int, Finding]]:
    """The first finding of each pass, of the whole run (one step) or of every micro step; backward only where forward agrees.

    Args:
        group: [nodes] phase + 2 * step.
    """
    below = children_of_pairs(pairs, target, group, 2 * steps)
    differs = np.zeros(2 * steps, np.bool_)
    differs[group[pairs.node[pairs.bad_output | pairs.bad_input | pairs.bad_parameter]]] = True
    # An input that differs without any effect is told only where nothing else is found.
    effective = np.where(blamed == Cause.RECOVERED, Cause.CLEAN, blamed)
    found: list[dict[int, Finding]] = []
    for step in range(steps):
        of_step: dict[int, Finding] = {}
        for wanted in (FORWARD_PHASE, BACKWARD_PHASE):
            place = below[wanted + 2 * step]
            finding = find_first(pairs, effective, place) or find_first(pairs, blamed, place) or find_first(pairs, cause, place)
            if finding is not None:
                of_step = {wanted: finding}
                break
            if differs[wanted + 2 * step]:
                break  # gradients of another forward pass differ everywhere
        found.append(of_step)
    return found


def _noise_message(rows: RowVerdicts) -> list[str]:
    if rows.noise_factor < 1.05:
        return []
    return [message("verdict.noise",
                    "tolerances widened {factor} times: the part of the run before the first divergence shows that much noise",
                    factor=f"{rows.noise_factor:.2g}")]


def _with_collections(pairs: PairFacts, cause: NDArray[np.uint8], target: Graph) -> NDArray[np.uint8]:
    """[pairs] status, where a collection of APIs, which the converter made, shows the worst inside; its `cause` is set alike."""
    tree = target.tree
    status: NDArray[np.uint8] = pairs.status.copy()
    of_node, cause_of_node = np.zeros(tree.count, np.uint8), np.zeros(tree.count, np.uint8)
    of_node[pairs.node] = np.where(status == Status.NOT_COMPARABLE, 0, status)
    cause_of_node[pairs.node] = cause
    for number in np.flatnonzero(tree.kind[pairs.node] == NodeKind.API_COLLECTION).tolist():
        node = int(pairs.node[number])
        inside = slice(node + 1, int(tree.end[node]))
        worst = int(of_node[inside].max()) if inside.stop > inside.start else 0
        status[number] = worst or int(Status.NOT_COMPARABLE)
        causes_inside = cause_of_node[inside][of_node[inside] >= Status.WARNING]
        if len(causes_inside):
            cause[number] = next((each for each in _WORST_FIRST if (causes_inside == each).any()), 0)
    return status


def _divergence(finding: Finding | None, evidence: Evidence) -> FirstDivergence | None:
    if finding is None:
        return None
    comparison, rows, pairs = evidence.comparison, evidence.rows, evidence.pairs
    pairing, target, golden = evidence.pairing, evidence.target, evidence.golden
    # A gap at the root has no pair of its own: the call whose inputs differ first stands for it.
    pair = finding.place if finding.place >= 0 else finding.seen
    node, others = told_nodes(finding, evidence)
    witness = finding.seen if finding.kind == "gap" and finding.seen >= 0 else pair
    lone = lone_calls(finding, pairs, pairing, target.tree, golden.tree)
    english, chinese = divergence_sentence(finding.kind, comparison, rows, pairs, target, pair, witness, finding.after, lone)
    return FirstDivergence(
        pair=pair,
        target_node=node,
        golden_nodes=others,
        kind="nonfinite" if pairs.nonfinite[witness] else finding.kind,
        error=_error_of(finding, pairs, pair, witness),
        reason_en=english,
        reason_zh=chinese,
        after=int(pairs.node[finding.after]) if finding.after >= 0 else -1,
        micro_step=int(target.tree.micro_step[node]),
    )


def _error_of(finding: Finding, pairs: PairFacts, pair: int, witness: int) -> float:
    """The error that a person is told: of the parameter, of the witness's inputs, or of the pair's own outputs."""
    if finding.kind == "parameter":
        return float(pairs.parameter_error[pair])
    candidates = [pairs.error[pair]]
    if witness != pair or finding.place < 0:  # a scalar argument that differs has no error: then the outputs speak
        candidates = [pairs.input_error[witness], pairs.error[witness], pairs.error[pair]]
    measured = [float(value) for value in candidates if value > 0]
    return measured[0] if measured else 0.0


def _parameters(facts: RowFacts, cause: NDArray[np.uint8], evidence: Evidence) -> list[ParameterDifference]:
    """Parameters that differ, then gradients that differ on their own account, in call order; each tensor once."""
    comparison, rows, pairs = evidence.comparison, evidence.rows, evidence.pairs
    target, golden = evidence.target, evidence.golden
    bad = (rows.status == Status.WARNING) | (rows.status == Status.ERROR)
    found: list[ParameterDifference] = []
    seen: set[tuple[str, str]] = set()
    for gradient, role in ((False, Role.PARAMETER), (True, Role.GRADIENT)):
        for row in np.flatnonzero(bad & facts.both & (facts.role == role)).tolist():
            pair = int(facts.pair[row])
            part = target_part(evidence, pair, row)
            node = part if part >= 0 else int(pairs.node[pair])
            if gradient and cause[pair] != Cause.INTRODUCED:
                continue
            leaves = comparison.target
            name = leaves.strings[leaves.name[comparison.target_row[row]]]
            middle = "" if gradient else "parameters."
            key = (".".join(target.tree.paths[target.tree.path[node]]), name)
            if key in seen and not gradient:
                continue
            seen.add(key)
            texts, names = comparison.golden.strings, comparison.golden.name
            others = tuple(f"{golden.tree.names[other]}.{middle}{texts[names[leaf]]}" for other, leaf in golden_parts(evidence, row))
            found.append(
                ParameterDifference(pair, node, f"{target.tree.names[node]}.{middle}{name}", others, float(rows.error[row]), gradient)
            )
    return found


def _uncompared_parameters(facts: RowFacts, evidence: Evidence) -> UncomparedParameters | None:
    """Parameters that both sides have and that could not be compared; a tensor that several calls use counts once."""
    rows, target, leaves = evidence.rows, evidence.target, evidence.comparison.target
    first: tuple[int, int, str] | None = None
    seen: set[tuple[str, str]] = set()
    for row in np.flatnonzero((rows.status == Status.NOT_COMPARABLE) & facts.both & (facts.role == Role.PARAMETER)).tolist():
        pair = int(facts.pair[row])
        part = target_part(evidence, pair, row)
        node = part if part >= 0 else int(evidence.pairs.node[pair])
        name = leaves.strings[leaves.name[evidence.comparison.target_row[row]]]
        seen.add((".".join(target.tree.paths[target.tree.path[node]]), name))
        first = first or (row, node, name)
    if first is None:
        return None
    row, node, name = first
    english, chinese = why_not_compared(evidence.comparison, rows, row)
    return UncomparedParameters(len(seen), node, f"{target.tree.names[node]}.parameters.{name}", english, chinese)
