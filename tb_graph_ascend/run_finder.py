"""Finds runs below the log directories with one background walk, and answers from what it has found so far."""

from __future__ import annotations

import os
import threading
import time

from converter.graphfile.errors import SYSTEM_ERRORS
from converter.graphfile.source import is_remote
from tb_graph_ascend.directory_walk import walk
from tb_graph_ascend.log_roots import LogRoot
from tb_graph_ascend.runs import GraphChecker, Run, runs_in
from tb_graph_ascend.texts import Problem, log_directory_is_file, no_log_directory, unreachable

FRESH = 2.0  # seconds during which the result of a walk is not made again
FIRST_ANSWER = 0.5  # seconds that the first question waits, so that a small log directory is there on the first page
FIND_TIMEOUT = 10.0  # seconds that a question for a run nobody has seen yet waits for the walk


class RunFinder:
    """The runs below some log directories. Looks at nothing before the first question; safe for many threads."""

    def __init__(self, roots: list[LogRoot]) -> None:
        self.roots = roots
        self._checker = GraphChecker()
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        self._problems: list[Problem] = []
        self._walked = False
        self._finished = float("-inf")
        self._idle = threading.Event()
        self._idle.set()
        self._something = threading.Event()  # set once a run was found or a walk ended

    @property
    def scanning(self) -> bool:
        """Whether a walk is under way."""
        return not self._idle.is_set()

    def is_active(self) -> bool:
        """Whether any run is known. Waits a moment only before the first walk has found something; never walks itself."""
        self.refresh()
        self._something.wait(FIRST_ANSWER)
        return bool(self._runs)

    def runs(self, wait: float = FIRST_ANSWER) -> list[Run]:
        """The runs known now, by name in natural order; a new walk is begun where the last one is not fresh."""
        self.refresh()
        self._idle.wait(wait)
        return list(self._runs.values())

    def problems(self) -> list[Problem]:
        """Log directories that the last walk could not read."""
        return list(self._problems)

    def find(self, name: str) -> Run | None:
        """The run of that name. Only what a walk has listed can be found, so no name leads out of the log directory."""
        for _ in range(2):
            if name in self._runs:
                break
            passed = self.scanning  # a walk under way may have passed the place already
            self.refresh(changed=True)
            self._idle.wait(FIND_TIMEOUT)
            if not passed:
                break
        return self._runs.get(name)

    def refresh(self, changed: bool = False) -> None:
        """Begins a walk unless one is under way or has just ended; `changed`: even if one has just ended. Returns at once."""
        with self._lock:
            if self.scanning or (not changed and time.monotonic() - self._finished < FRESH):
                return
            self._idle.clear()
        threading.Thread(target=self._walk, name="tb_graph_ascend-walk", daemon=True).start()

    def _walk(self) -> None:
        found: dict[str, Run] = {}
        problems: list[Problem] = []
        try:
            for root in self.roots:
                try:
                    problem = why_no_directory(root.path)
                    if problem is not None:
                        problems.append(problem)
                        continue
                    self._walk_root(root, found)
                except Exception as error:  # whatever a remote file system raises: the other roots and the page stay
                    problems.append(unreachable(root.path, str(error) or type(error).__name__))
        finally:
            self._runs = dict(sorted(found.items(), key=lambda item: natural(item[0])))
            self._problems = problems
            self._walked = True
            self._finished = time.monotonic()
            self._something.set()
            self._idle.set()

    def _walk_root(self, root: LogRoot, found: dict[str, Run]) -> None:
        for run in runs_in(walk(root.path), root.prefix, self._checker):
            found[run.name] = run
            if not self._walked or run.name not in self._runs:
                self._runs = {**self._runs, run.name: run}
                self._something.set()

    def writable(self) -> bool:
        """Whether this process may write below any of the log directories."""
        return any(not is_remote(root.path) and os.access(root.path, os.W_OK) for root in self.roots)


def why_no_directory(path: str) -> Problem | None:
    """What is wrong with a log directory before anything below it is looked at; of a remote one, reading it tells."""
    if is_remote(path):
        return None
    try:
        os.scandir(path).close()
    except FileNotFoundError:
        return no_log_directory(path)
    except NotADirectoryError:
        return log_directory_is_file(path)
    except OSError as error:
        return unreachable(path, error.strerror or str(error), SYSTEM_ERRORS.get(error.errno or 0, ""))
    return None


def natural(text: str) -> list[tuple[int, str]]:
    """A sort key by which "step10" stands behind "step9"."""
    parts: list[tuple[int, str]] = []
    digits = ""
    for character in text:
        if character.isascii() and character.isdigit():
            digits += character
            continue
        if digits:
            parts.append((int(digits), digits))
            digits = ""
        parts.append((-1, character))
    if digits:
        parts.append((int(digits), digits))
    return parts
