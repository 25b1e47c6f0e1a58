"""What a run is: a directory with a manifest, or graph files that lie about without one."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from converter.errors import UserError
from converter.graphfile import container
from converter.graphfile.errors import GraphFileError
from converter.graphfile.file import GraphFile
from converter.graphfile.manifest import MANIFEST_FORMAT, MANIFEST_NAME
from converter.graphfile.source import Source, open_source
from converter.messages import message
from tb_graph_ascend.directory_walk import Found
from tb_graph_ascend.metadata import GRAPH_SUFFIX
from tb_graph_ascend.texts import Problem, broken_manifest, of_error
from tb_graph_ascend.verdict_word import verdict_word

RUN_DIRECTORY = re.compile(r"(compare|build)_")
STEP_DIRECTORY = re.compile(r"step(\d+)")
RANK_FILE = re.compile(r"rank(\d+)\.pb")
LARGEST_MANIFEST = 64 << 20  # bytes


@dataclass(frozen=True)
class Graph:
    """One graph file of a run: readable (size and version), or with its problem."""

    step: int
    rank: int
    file: str  # relative to the run's directory
    path: str
    size: int = 0  # bytes
    version: str = ""  # hex; changes with the file
    verdict: str = ""  # one word, see verdict_word.py
    problem: Problem | None = None


@dataclass(frozen=True)
class Run:
    """One conversion's output."""

    name: str  # prefix and path relative to the log directory; "." for the log directory itself
    path: str
    kind: str  # compare | build
    created: str
    graphs: tuple[Graph, ...]
    problem: Problem | None = None
    dumps: str = ""  # which dumps these are, short enough for a menu

    def graph(self, step: int, rank: int) -> Graph | None:
        """The graph of that step and rank."""
        return next((graph for graph in self.graphs if (graph.step, graph.rank) == (step, rank)), None)


@dataclass(frozen=True)
class _Check:
    """What opening a file's header told."""

    version: str
    problem: Problem | None
    kind: str = "compare"
    step: int = 0
    rank: int = 0
    created: str = ""
    verdict: str = ""
    dumps: str = ""


class GraphChecker:
    """Opens headers, and remembers the outcome as long as a file's size and time do not change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str, _Check]] = {}

    def check(self, graph: Graph) -> tuple[Graph, _Check]:
        """The graph with size, version and problem filled in."""
        try:
            source = open_source(graph.path)
        except UserError as error:
            problem = of_error(error)
            return replace(graph, problem=problem), _Check("", problem)
        known = self._known.get(graph.path)
        if known is None or known[:2] != (source.size, source.changed):
            known = (source.size, source.changed, _look(source))
            self._known[graph.path] = known
        check = known[2]
        return replace(graph, size=source.size, version=check.version, verdict=check.verdict, problem=check.problem), check


def version_of(source: Source, identity: int) -> str:
    """The hex name of one state of a file: checksum of its header, and of its size and time."""
    return f"{identity:08x}{zlib.crc32(f'{source.size}/{source.changed}'.encode()):08x}"


def _look(source: Source) -> _Check:
    try:
        file = GraphFile(source)
        summary = file.summary()
    except GraphFileError as error:
        return _Check("", of_error(error))
    kind = "compare" if "topology/golden" in file.index.sections else "build"
    return _Check(version_of(source, file.index.identity), None, kind, summary.step, summary.rank, summary.provenance.created,
                  verdict_word(summary), dump_names(summary.target.path, summary.golden.path))


def dump_names(target: str, golden: str) -> str:
    """What tells one pair of dumps from another: "megatron_vs_hf/megatron ↔ hf" for …/megatron_vs_hf/megatron and …/megatron_vs_hf/hf."""
    names = [[part for part in re.split(r"[\\/]+", path) if part not in ("", ".")] for path in (target, golden)]
    if not golden or not names[1]:
        return "/".join(names[0][-2:])
    shared = names[0][-2:-1] == names[1][-2:-1]
    return f"{'/'.join(names[0][-2:])} ↔ {'/'.join(names[1][-1:] if shared else names[1][-2:])}"


def runs_in(directories: Iterator[Found], prefix: str, checker: GraphChecker) -> Iterator[Run]:
    """The runs of a walk, each as soon as it is complete."""
    described: set[str] = set()  # directories of runs with a usable manifest
    groups: dict[str, list[Graph]] = {}  # directory → graph files in step{S}/rank{R}.pb below it, without a manifest
    problems: dict[str, Problem] = {}
    paths: dict[str, str] = {}
    for found in directories:
        if MANIFEST_NAME in found.files:
            try:
                manifest = _read_manifest(found)
            except UserError as error:
                problems[found.relative] = broken_manifest(error.told)
                groups.setdefault(found.relative, [])
                paths[found.relative] = found.path
            else:
                if manifest is not None:
                    described.add(found.relative)
                    yield _described_run(found, manifest, prefix, checker)
        parent, _, own = found.relative.rpartition("/")
        step = STEP_DIRECTORY.fullmatch(own)
        if found.relative in described or (step and parent in described):
            continue
        for file in found.files:
            path = f"{found.path}/{file}"
            rank = RANK_FILE.fullmatch(file)
            if not file.endswith(GRAPH_SUFFIX) or not _begins_like_a_graph(path):
                continue
            if step and rank:
                groups.setdefault(parent, []).append(Graph(int(step[1]), int(rank[1]), f"{own}/{file}", path))
                paths.setdefault(parent, found.path[: -len(own) - 1])
            else:
                yield _lone_run(Graph(0, 0, file, path), found.relative, prefix, checker)
    for relative, graphs in groups.items():
        checked = [checker.check(graph) for graph in graphs]
        about = next((check for _, check in checked if check.problem is None), _Check("", None))
        yield Run(_name(prefix, relative), paths[relative], about.kind, about.created, _in_order([graph for graph, _ in checked]),
                  problems.get(relative), about.dumps)


def _lone_run(graph: Graph, relative: str, prefix: str, checker: GraphChecker) -> Run:
    graph, check = checker.check(graph)
    graph = replace(graph, step=check.step, rank=check.rank)
    name = f"{relative}/{graph.file}" if relative else graph.file
    return Run(f"{prefix}{_readable(name)}", graph.path[: -len(graph.file) - 1], check.kind, check.created, (graph,), None, check.dumps)


def _described_run(found: Found, manifest: dict[str, Any], prefix: str, checker: GraphChecker) -> Run:
    graphs, dumps = [], ""
    for entry in manifest["graphs"]:
        graph = Graph(entry["step"], entry["rank"], entry["file"], f"{found.path}/{entry['file']}")
        checked, about = checker.check(graph)
        graphs.append(checked)
        dumps = dumps or about.dumps
    kind = "build" if manifest.get("kind") == "build" else "compare"
    return Run(_name(prefix, found.relative), found.path, kind, str(manifest.get("created", "")), _in_order(graphs), None, dumps)


def _in_order(graphs: list[Graph]) -> tuple[Graph, ...]:
    return tuple(sorted(graphs, key=lambda graph: (graph.step, graph.rank)))


def _name(prefix: str, relative: str) -> str:
    return f"{prefix}{_readable(relative)}" if relative else prefix.rstrip("/") or "."


def _readable(path: str) -> str:
    """A path as a name for addresses and JSON: bytes that are no UTF-8 are written out ("caf\\xe9")."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _read_manifest(found: Found) -> dict[str, Any] | None:
    """The manifest; None where manifest.json is somebody else's. Raises UserError where it is ours but cannot be used."""
    name = found.relative.rpartition("/")[2] or found.path.rstrip("/").rpartition("/")[2]
    ours = bool(RUN_DIRECTORY.match(name))
    try:
        source = open_source(f"{found.path}/{MANIFEST_NAME}")
        manifest = json.loads(source.read_range(0, min(source.size, LARGEST_MANIFEST)))
    except UserError:
        if ours:
            raise
        return None
    except (ValueError, RecursionError) as error:
        if ours:
            raise UserError(message("manifest.no_json", "not valid JSON: {why}", why=error)) from None
        return None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("graphs"), list) or "format" not in manifest:
        if ours:
            raise UserError(message("manifest.no_list", "it has no list \"graphs\""))
        return None
    if manifest["format"] != MANIFEST_FORMAT:
        raise UserError(message("manifest.format", "its format is {found}, and this program knows {known}",
                                found=repr(manifest["format"]), known=MANIFEST_FORMAT))
    for entry in manifest["graphs"]:
        _check_entry(entry)
    return manifest


def _check_entry(entry: Any) -> None:
    """A manifest can come from anybody: its file names must stay inside the run's directory."""
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise UserError(message("manifest.no_file", "an entry of \"graphs\" has no \"file\""))
    if not all(type(entry.get(key)) is int for key in ("step", "rank")):
        raise UserError(message("manifest.no_number", "step or rank of {file} is no whole number", file=repr(entry["file"])))
    file = entry["file"]
    half = re.search("[\ud800-\udfff]", file)  # of a character: no file can be asked for by such a name
    if not file or half or "\\" in file or ":" in file or "\0" in file or any(part in ("", ".", "..") for part in file.split("/")):
        raise UserError(message("manifest.outside", "the file name {file} leads out of the run's directory", file=repr(file)))


def _begins_like_a_graph(path: str) -> bool:
    """Whether a file without a manifest is ours: other programs keep .pb files in log directories too."""
    try:
        start = open_source(path).read_range(0, len(container.MAGIC))
    except GraphFileError:
        return True  # listed with the reason why it cannot be read
    return bool(start) and container.MAGIC.startswith(start)
