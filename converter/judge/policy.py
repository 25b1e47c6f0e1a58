"""Policies: the figures and lists that the judge works by. docs/policy.md explains every one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, cast

from converter.errors import UserError
from converter.judge.policy_files import Document, collect, shipped_policies, title_stem
from converter.judge.policy_rules import PolicyRule
from converter.judge.policy_source import TOLERANCES, Value, every_key
from converter.judge.reasons import CATALOGUE
from converter.messages import message
from converter.yaml_source import error_at

__all__ = ["MsprobeThresholds", "Policy", "PolicyRule", "Tolerance", "load_policy", "shipped_policies"]

_MAY_BE_LEFT_OUT = ("name", "extends", "engine", "severities", "ignore", "rules")


@dataclass(frozen=True)
class Tolerance:
    """Largest scale-aware error that passes, and largest one that is only a warning (both may be inf)."""

    warning: float
    error: float


@dataclass(frozen=True)
class MsprobeThresholds:
    """Figures and lists of the peer's rules (msprobe_rules.py). Relative differences are ratios: 0.5 = 50 %."""

    relative_input_below: float
    relative_output_above: float
    growth_factor: float
    growth_output_above: float
    thousandth_input_above: float
    thousandth_output_below: float
    cosine_input_above: float
    cosine_drop_above: float
    dtype_exempt: tuple[str, ...]  # parts of golden names
    ignored: frozenset[str]
    placeholder_inputs: frozenset[str]
    uninitialised: frozenset[str]


@dataclass(frozen=True)
class Policy:
    """Everything that the judge needs to know."""

    name: str
    text: str  # the YAML it was read from; the files that it extends follow as further YAML documents
    engine: str  # scale_aware | msprobe
    tolerances: dict[str, Tolerance]  # by dtype (policy_source.TOLERANCES)
    role_factor: dict[str, float]  # activation, gradient, parameter
    statistic_factor: tuple[float, float, float, float]  # Max, Min, Mean, Norm
    noise_times: float
    noise_most: float
    rounding: float
    gain: float
    severities: dict[str, str]  # id of every reason → note | warning | error | not_comparable
    uninitialised: frozenset[str]
    placeholder_inputs: frozenset[str]
    receiving: frozenset[str]
    cancelling: frozenset[str]
    ignore: tuple[re.Pattern[str], ...]
    rules: tuple[PolicyRule, ...]
    msprobe: Optional[MsprobeThresholds]  # there if engine is msprobe


def load_policy(name_or_path: str) -> Policy:
    """Read and check a policy: a shipped one by its name, or any file by its path (a shipped name wins; ./name is a file).

    Raises:
        UserError: no such policy, or a mistake in it with file, line and column.
    """
    documents, values = collect(name_or_path)
    engine = _word(values, "engine", "scale_aware")
    _check_complete(values, documents[0].title, engine)
    _check_order(values, documents)
    return Policy(
        name=_word(values, "name", title_stem(documents[0].title)),
        text=documents[0].text + "".join(f"\n--- # extends {title}\n{text}" for title, text, _ in documents[1:]),
        engine=engine,
        tolerances={dtype: Tolerance(_number(values, f"tolerances.{dtype}.warning"), _number(values, f"tolerances.{dtype}.error"))
                    for dtype in TOLERANCES},
        role_factor={role: _number(values, f"roles.{role}") for role in ("activation", "gradient", "parameter")},
        statistic_factor=(_number(values, "statistics.Max"), _number(values, "statistics.Min"),
                          _number(values, "statistics.Mean"), _number(values, "statistics.Norm")),
        noise_times=_number(values, "noise.times"),
        noise_most=_number(values, "noise.most"),
        rounding=_number(values, "rounding"),
        gain=_number(values, "gain"),
        severities={reason.id: _word(values, f"severities.{reason.id}", reason.severity) for reason in CATALOGUE},
        uninitialised=_names(values, "apis.uninitialised"),
        placeholder_inputs=_names(values, "apis.placeholder_inputs"),
        receiving=_names(values, "apis.receiving"),
        cancelling=_names(values, "apis.cancelling"),
        ignore=cast("tuple[re.Pattern[str], ...]", values["ignore"].value) if "ignore" in values else (),
        rules=cast("tuple[PolicyRule, ...]", values["rules"].value) if "rules" in values else (),
        msprobe=_msprobe(values) if engine == "msprobe" else None,
    )


def _msprobe(values: dict[str, Value]) -> MsprobeThresholds:
    return MsprobeThresholds(
        relative_input_below=_number(values, "msprobe.relative.input_below"),
        relative_output_above=_number(values, "msprobe.relative.output_above"),
        growth_factor=_number(values, "msprobe.growth.factor"),
        growth_output_above=_number(values, "msprobe.growth.output_above"),
        thousandth_input_above=_number(values, "msprobe.thousandth.input_above"),
        thousandth_output_below=_number(values, "msprobe.thousandth.output_below"),
        cosine_input_above=_number(values, "msprobe.cosine.input_above"),
        cosine_drop_above=_number(values, "msprobe.cosine.drop_above"),
        dtype_exempt=cast("tuple[str, ...]", values["msprobe.dtype_exempt"].value),
        ignored=_names(values, "msprobe.apis.ignored"),
        placeholder_inputs=_names(values, "msprobe.apis.placeholder_inputs"),
        uninitialised=_names(values, "msprobe.apis.uninitialised"),
    )


def _number(values: dict[str, Value], key: str) -> float:
    return cast(float, values[key].value)


def _names(values: dict[str, Value], key: str) -> frozenset[str]:
    return frozenset(cast("tuple[str, ...]", values[key].value))


def _word(values: dict[str, Value], key: str, default: str) -> str:
    return cast(str, values[key].value) if key in values else default


def _check_complete(values: dict[str, Value], title: str, engine: str) -> None:
    for key in every_key():
        section = key.split(".")[0]
        if key in values or section in _MAY_BE_LEFT_OUT or (section == "msprobe" and engine != "msprobe"):
            continue
        base = "msprobe" if section == "msprobe" else "default"
        raise UserError(message("policy.key_missing",
                                "{file}: '{key}' is missing: write it, or begin the file with 'extends: {base}' to take from there "
                                "what the file does not say",
                                file=title, key=key, base=base))


def _check_order(values: dict[str, Value], documents: list[Document]) -> None:
    """Each of the two tolerances may come from another file, so they can be held against each other only in the end."""
    titles = [document.title for document in documents]
    for dtype in TOLERANCES:
        warning, error = values[f"tolerances.{dtype}.warning"], values[f"tolerances.{dtype}.error"]
        if _number(values, f"tolerances.{dtype}.error") >= _number(values, f"tolerances.{dtype}.warning"):
            continue
        place = min((error, warning), key=lambda value: titles.index(value.file))  # the file that the user is writing
        raise error_at(place.file, place.line, place.column,
                       message("policy.order",
                               "tolerances of {dtype}: 'error' ({error}) is below 'warning' ({warning}): an error is the larger "
                               "difference, so raise 'error' or lower 'warning'",
                               dtype=dtype, error=f"{error.value:g}", warning=f"{warning.value:g}"))
