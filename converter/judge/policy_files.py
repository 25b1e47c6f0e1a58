"""Where policies lie: shipped ones by name, the user's own by path, and the files that one extends."""

from __future__ import annotations

import os
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, Optional, cast

from converter.errors import UserError
from converter.judge.policy_source import Value, read_values
from converter.messages import message
from converter.yaml_source import decode_text, did_you_mean, error_at

if TYPE_CHECKING:
    from importlib.abc import Traversable

_SUFFIXES = (".yaml", ".yml")


class Document(NamedTuple):
    """One policy file."""

    title: str  # the path as given, or the name of a shipped policy
    text: str
    identity: str  # the same for two ways to write one path


def shipped_policies() -> list[str]:
    """Names of the policies that come with the program, `default` first."""
    names = [entry.name[:-len(".yaml")] for entry in _directory().iterdir() if entry.name.endswith(".yaml")]
    return sorted(names, key=lambda name: (name != "default", name))


def collect(name_or_path: str) -> tuple[list[Document], dict[str, Value]]:
    """A policy file and all that it extends, nearest first, and the values that hold in the end.

    Raises:
        UserError: no such policy, a mistake in one of the files, or files that extend each other.
    """
    return _collect(name_or_path, None, ())


def title_stem(title: str) -> str:
    """The name of a policy that gives itself none."""
    name = os.path.basename(title)
    return os.path.splitext(name)[0] if name.endswith(_SUFFIXES) else name


def _collect(name: str, asked: Optional[Value], inside: tuple[str, ...]) -> tuple[list[Document], dict[str, Value]]:
    document = _find(name, asked)
    if asked is not None and document.identity in inside:
        raise error_at(
            asked.file,
            asked.line,
            asked.column,
            message("policy.circle", "'{name}' in turn extends this policy: extend another one, or none", name=name),
        )
    own = read_values(document.text, document.title)
    if "extends" not in own:
        return [document], own
    documents, values = _collect(cast(str, own["extends"].value), own["extends"], (*inside, document.identity))
    values.pop("name", None)
    values.update(own)
    return [document, *documents], values


def _find(name: str, asked: Optional[Value]) -> Document:
    """The text of a policy. `asked` is the `extends` that names it; None where a person does."""
    shipped = shipped_policies()
    if name in shipped:
        return Document(name, _directory().joinpath(f"{name}.yaml").read_text(encoding="utf-8"), f"shipped {name}")
    path = name if asked is None else os.path.join(os.path.dirname(asked.file), name)
    try:
        with open(path, "rb") as stream:
            return Document(path, decode_text(stream.read(), path), os.path.realpath(path))
    except OSError as problem:
        text = _not_found(name, path, problem, shipped)
    raise UserError(text) if asked is None else error_at(asked.file, asked.line, asked.column, text)


def _not_found(name: str, path: str, problem: OSError, shipped: list[str]) -> str:
    listed = message("policy.shipped", "the shipped policies are {names}", names=tuple(shipped))
    if isinstance(problem, IsADirectoryError):
        return message("policy.is_directory", "policy {path} is a directory: give a YAML file in it; {advice}", path=path, advice=listed)
    if not isinstance(problem, FileNotFoundError):
        return message("policy.unreadable", "policy file {path} cannot be read: {why}", path=path, why=problem.strerror or problem)
    if os.path.dirname(name) or name.endswith(_SUFFIXES):
        return message("policy.missing", "policy file {path} does not exist: check the path; {advice}", path=path, advice=listed)
    advice = did_you_mean(name, shipped)
    if advice.startswith("did"):
        return message("policy.unknown_close", "there is no policy '{name}': {advice} Or give the path of a file; {shipped}",
                       name=name, advice=advice, shipped=listed)
    return message("policy.unknown", "there is no policy '{name}'. Give the path of a file; {shipped}", name=name, shipped=listed)


def _directory() -> Traversable:
    return resources.files("converter.judge").joinpath("policies")
