"""What a mapping file says, as records: rules, the scopes they stand in, parameter aliases. Grammar: docs/mapping.md.

Within a file the left of a colon is called source and the right destination. Source is the target side of a comparison,
destination the golden side; in a file with `invert: true` it is the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from converter.match.mapping_pattern import Pattern
from converter.match.pairing import Layout, Relation
from converter.messages import message

ROOT_SCOPE = "TopLayer"
OLD_ROOT_SCOPE = "Cell"  # what msprobe called it first

Alternatives = tuple[Pattern, ...]  # `a | b`: the first that exists


@dataclass(frozen=True)
class Scope:
    """Where rules apply: below instances of a class, at places of the source side, or both."""

    class_name: str  # "" = any class
    path: Optional[Pattern] = None  # None = anywhere; the pattern may begin anywhere unless `anchored`
    anchored: bool = False  # the path was written with TopLayer in front
    path_text: str = ""
    to_class: str = ""  # the counterparts on the destination side; needed only to invert the file
    to_path: str = ""
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        """For messages: "TransformerLayer", "visual.** TransformerLayer"."""
        return " ".join(text for text in (self.path_text, self.class_name) if text)


@dataclass(frozen=True)
class Rule:
    """One rule. Several sources (many to one) or several destinations (one to many) form a group; no destination means
    that the source has no counterpart."""

    scope: Scope
    sources: tuple[Alternatives, ...]
    destinations: tuple[Alternatives, ...]
    relation: Relation
    layout: Optional[Layout]
    gather: bool  # the key is a list: all that its names find go to one counterpart
    source_text: str
    destination_text: str
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        """For messages and evidence: "rule TransformerLayer.self_attention (line 7)"."""
        return message("mapping.rule", "rule {scope}.{source} (line {line})",
                       scope=self.scope.label, source=self.source_text, line=self.line)


@dataclass(frozen=True)
class ParameterAlias:
    """A parameter that has another name on the destination side. An empty class means every module."""

    class_name: str
    source: str
    destination: str
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)


@dataclass(frozen=True)
class MappingFile:
    """One mapping file."""

    name: str = field(compare=False)  # as given, for messages
    text: str = field(compare=False)
    rules: tuple[Rule, ...] = ()
    parameters: tuple[ParameterAlias, ...] = ()
    classes: tuple[tuple[str, str], ...] = ()  # source class, destination class: needed only to invert the file
    invert: bool = False
    optional: bool = False  # rules that hit nothing and unknown classes are expected (templates)
    ignore_wrappers: bool = False


def empty_mapping() -> MappingFile:
    """No rules: what is called the same on both sides pairs."""
    return MappingFile("", "")
