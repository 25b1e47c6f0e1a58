"""graph-view doctor: says what is installed, what TensorBoard will load, which runs are there, and what is wrong."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass

from converter.version import VERSION
from tb_graph_ascend.get_asset import BUNDLE
from tb_graph_ascend.log_roots import log_roots
from tb_graph_ascend.metadata import PLUGIN_NAME
from tb_graph_ascend.run_finder import RunFinder

WALK_TIMEOUT = 60.0  # seconds
SHOWN_RUNS = 20


@dataclass(frozen=True)
class Finding:
    """One line of the examination; `advice` says what to do where it is not good."""

    good: bool
    text: str
    advice: str = ""


def examine(directory: str | None) -> int:
    """Prints all findings; 0 where all is well, 1 where something is not."""
    findings = [*about_installation(), *about_plugins(), *(about_log_directory(directory) if directory else ())]
    for finding in findings:
        print(f"{'ok   ' if finding.good else 'WRONG'} {finding.text}")
        if finding.advice:
            print(f"      {finding.advice}")
    wrong = sum(not finding.good for finding in findings)
    print(f"{wrong} problem{'s' if wrong != 1 else ''} found" if wrong else "Nothing wrong found")
    return 1 if wrong else 0


def about_installation() -> Iterator[Finding]:
    """Versions, the front end, and the command that starts TensorBoard."""
    yield Finding(True, f"tb_graph_ascend {VERSION} in {os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}")
    yield Finding(True, f"Python {platform.python_version()} in {sys.prefix}")
    built = os.path.isfile(os.path.join(BUNDLE, "index.js"))
    yield Finding(built, "the front end is built" if built else "the front end is not built",
                  "" if built else "Run in the project's directory: python build_backend/front_end.py")
    for name in ("tensorboard", "protobuf", "numpy"):
        try:
            yield Finding(True, f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            yield Finding(False, f"{name} is not installed here", f"Run: {sys.executable} -m pip install {name}")
    yield from about_command(importlib.util.find_spec("tensorboard") is not None)


def about_command(installed: bool) -> Iterator[Finding]:
    """The command `tensorboard` of this Python, and what the same word starts in the person's shell."""
    own = own_command()
    start = own or f"{sys.executable} -m tensorboard.main"
    if own is None:
        if installed:  # else that has been said
            yield Finding(True, f"TensorBoard is started as: {start} --logdir …")
    else:
        yield Finding(True, f"the command tensorboard of this Python is {own}")
    on_path = shutil.which("tensorboard")
    if on_path is not None and not _is_of_this_python(on_path):
        yield Finding(False, f"`tensorboard` on PATH is {on_path}",
                      f"It belongs to another Python, which does not see this plugin. Start: {start} --logdir …")


def own_command() -> str | None:
    """The `tensorboard` that pip put beside this Python, whether or not its environment is activated."""
    return shutil.which("tensorboard", path=os.pathsep.join(_script_directories()))


def _script_directories() -> list[str]:
    """Where scripts of this Python's packages lie: of the environment, of the user."""
    user = "nt_user" if os.name == "nt" else "posix_user"
    return [sysconfig.get_path("scripts"), os.path.dirname(os.path.abspath(sys.executable)), sysconfig.get_path("scripts", user)]


def _is_of_this_python(script: str) -> bool:
    """Whether a script lies beside this Python's others; the one on PATH may be a link to it."""
    directory = os.path.realpath(os.path.dirname(os.path.realpath(script)))
    beside = os.path.realpath(os.path.dirname(os.path.abspath(script)))
    return any(os.path.realpath(own) in (directory, beside) for own in _script_directories())


def about_plugins() -> Iterator[Finding]:
    """Every plugin that TensorBoard would load: one that cannot be imported, or two of one name, keep it from starting."""
    entries = list(importlib.metadata.entry_points().select(group="tensorboard_plugins")) if sys.version_info >= (3, 10) else list(
        importlib.metadata.entry_points().get("tensorboard_plugins", []))
    names: dict[str, str] = {}
    for entry in entries:
        try:
            plugin = entry.load()
        except Exception as problem:  # whatever another plugin's import raises
            yield Finding(False, f"plugin {entry.value} cannot be imported: {type(problem).__name__}: {problem}",
                          "TensorBoard does not start with it. Reinstall or uninstall the package that brings it.")
            continue
        name = str(getattr(plugin, "plugin_name", entry.name))
        if name in names:
            yield Finding(False, f"two plugins have the name {name}: {names[name]} and {entry.value}",
                          "TensorBoard does not start with both. Uninstall one of them.")
        names[name] = entry.value
        yield Finding(True, f"plugin {name} ({entry.value})")
    if not any(entry.name == PLUGIN_NAME for entry in entries):
        yield Finding(False, f"TensorBoard does not know {PLUGIN_NAME} in this environment",
                      f"Run: {sys.executable} -m pip install tb_graph_ascend")


def about_log_directory(directory: str) -> Iterator[Finding]:
    """The runs that the plugin finds, and what is wrong with them."""
    finder = RunFinder(log_roots(directory))
    runs = finder.runs(wait=WALK_TIMEOUT)
    for problem in finder.problems():
        yield Finding(False, problem.en)
    if not runs and not finder.problems():
        yield Finding(False, f"{directory}: no graph files found below it", "Write some: graph-convert -tp … -gp … -o " + directory)
    for run in runs[:SHOWN_RUNS]:
        broken = [graph for graph in run.graphs if graph.problem is not None]
        good = run.problem is None and not broken
        files = "1 graph file" if len(run.graphs) == 1 else f"{len(run.graphs)} graph files"
        yield Finding(good, f"run {run.name}: {run.kind}, {files}", run.problem.en if run.problem else "")
        for graph in broken:
            yield Finding(False, f"  {graph.file}: {graph.problem.en if graph.problem else ''}")
    if len(runs) > SHOWN_RUNS:
        yield Finding(True, f"… and {len(runs) - SHOWN_RUNS} more runs")
