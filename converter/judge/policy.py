"""Policies: the numbers and lists that the judge works by, read from shipped or the user's own YAML files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, cast

from converter.errors import UserError
from converter.judge.policy_rules import PolicyRule
from converter.judge.policy_source import TOLERANCES, Value, every_key, read_values
from converter.judge.policy_values import did_you_mean
from converter.judge.reasons import CATALOGUE
from converter.yaml_source import decode_text, error_at

if TYPE_CHECKING:
    from importlib.abc import Traversable

__all__ = ["Policy", "PolicyRule", "Tolerance", "load_policy", "shipped_policies"]

_SUFFIXES = (".yaml", ".yml")
_MAY_BE_LEFT_OUT = ("name", "extends", "engine", "ignore", "rules", "severities")


@dataclass(frozen=True)
class Tolerance:
    """Largest scale-aware error that passes, and largest one that is only a warning (both may be inf)."""

    warning: float
    error: float


@dataclass(frozen=True)
class Policy:
    """Everything that the judge needs to know; docs/policy.md explains every field."""

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


def shipped_policies() -> list[str]:
    """Names of the policies that come with the program, `default` first."""
    names = [entry.name[:-5] for entry in _directory().iterdir() if entry.name.endswith(".yaml")]
    return sorted(names, key=lambda name: (name != "default", name))


def load_policy(name_or_path: str) -> Policy:
    """Read and check a policy: the name of a shipped one, or the path of a file (a shipped name wins; write ./name then).

    Raises:
        UserError: no such policy, or a mistake in it with file, line and column.
    """
    documents, values = _collect(name_or_path, None, ())
    text = documents[0][1]
    for title, document in documents[1:]:
        text += f"\n--- # extends {title}\n{document}"
    _check_complete(values, documents[0][0])
    _check_order(values)
    return _build(values, text, documents[0][0])


def _build(values: dict[str, Value], text: str, title: str) -> Policy:
    def number(key: str) -> float:
        return cast(float, values[key].value)

    def names(key: str) -> frozenset[str]:
        return frozenset(cast("tuple[str, ...]", values[key].value))

    def word(key: str, default: str) -> str:
        return cast(str, values[key].value) if key in values else default

    return Policy(
        name=word("name", _stem(title)),
        text=text,
        engine=word("engine", "scale_aware"),
        tolerances={dtype: Tolerance(number(f"tolerances.{dtype}.warning"), number(f"tolerances.{dtype}.error")) for dtype in TOLERANCES},
        role_factor={role: number(f"roles.{role}") for role in ("activation", "gradient", "parameter")},
        statistic_factor=(number("statistics.Max"), number("statistics.Min"), number("statistics.Mean"), number("statistics.Norm")),
        noise_times=number("noise.times"),
        noise_most=number("noise.most"),
        rounding=number("rounding"),
        gain=number("gain"),
        severities={reason.id: word(f"severities.{reason.id}", reason.severity) for reason in CATALOGUE},
        uninitialised=names("apis.uninitialised"),
        placeholder_inputs=names("apis.placeholder_inputs"),
        receiving=names("apis.receiving"),
        cancelling=names("apis.cancelling"),
        ignore=cast("tuple[re.Pattern[str], ...]", values["ignore"].value) if "ignore" in values else (),
        rules=cast("tuple[PolicyRule, ...]", values["rules"].value) if "rules" in values else (),
    )


def _collect(name: str, asked: Value | None, inside: tuple[str, ...]) -> tuple[list[tuple[str, str]], dict[str, Value]]:
    """The texts of a policy and of all that it extends, nearest first, and the values that hold in the end."""
    title, text, identity = _find(name, asked)
    if identity in inside and asked is not None:
        raise error_at(asked.file, asked.line, asked.column, f"'{name}' extends this policy in turn: name another one or none")
    own = read_values(text, title)
    if "extends" not in own:
        return [(title, text)], own
    base_documents, base = _collect(cast(str, own["extends"].value), own["extends"], (*inside, identity))
    base.pop("name", None)
    base.update(own)
    return [(title, text), *base_documents], base


def _find(name: str, asked: Value | None) -> tuple[str, str, str]:
    """Title, text and identity of a policy. `asked` is the `extends` that names it, None = the command line."""
    shipped = shipped_policies()
    if name in shipped:
        return name, _directory().joinpath(name + ".yaml").read_text(encoding="utf-8"), f"shipped {name}"
    path = name
    if asked is not None and not os.path.isabs(name):
        path = os.path.join(os.path.dirname(asked.file), name)
    try:
        with open(path, "rb") as stream:
            return path, decode_text(stream.read(), path), os.path.realpath(path)
    except OSError as problem:
        if isinstance(problem, IsADirectoryError):
            text = f"policy {path} is a directory: name a YAML file in it, or one of the shipped policies: {', '.join(shipped)}"
        elif not isinstance(problem, FileNotFoundError):
            text = f"policy file {path} cannot be read: {problem.strerror or problem}"
        elif os.path.dirname(name) or name.endswith(_SUFFIXES):
            text = f"policy file {path} does not exist: check the path, or name one of the shipped policies: {', '.join(shipped)}"
        else:
            text = f"there is no policy '{name}', neither shipped nor as a file: {did_you_mean(name, shipped)}"
            if "known are" not in text:
                text += f" Shipped are {', '.join(shipped)}"
        if asked is not None:
            raise error_at(asked.file, asked.line, asked.column, text) from None
        raise UserError(text) from None


def _check_complete(values: dict[str, Value], title: str) -> None:
    for key in every_key():
        if key not in values and key.split(".")[0] not in _MAY_BE_LEFT_OUT:
            raise UserError(f"{title}: '{key}' is missing: write it, or start the file with 'extends: default' and everything that "
                            "is not written is taken from there")


def _check_order(values: dict[str, Value]) -> None:
    for dtype in TOLERANCES:
        warning, error = values[f"tolerances.{dtype}.warning"], values[f"tolerances.{dtype}.error"]
        if cast(float, error.value) < cast(float, warning.value):
            place = error if error.line >= warning.line else warning
            raise error_at(place.file, place.line, place.column,
                           f"'tolerances.{dtype}': error ({error.value:g}) is below warning ({warning.value:g}): an error is the larger "
                           "difference, so raise 'error' or lower 'warning'")


def _stem(title: str) -> str:
    name = os.path.basename(title)
    return name.rsplit(".", 1)[0] if name.endswith(_SUFFIXES) else name


def _directory() -> Traversable:
    return resources.files("converter.judge").joinpath("policies")
