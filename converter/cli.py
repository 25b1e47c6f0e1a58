"""graph-convert: arguments in, exit code out.

Exit codes: 0 done; 1 the level of --fail-on was reached; 2 bad input or usage; 3 nothing could be compared.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, Optional

from converter.errors import UserError
from converter.match.methods import METHODS
from converter.messages import message
from converter.options import Options, as_text
from converter.progress import Progress

DONE, LEVEL_REACHED, BAD_INPUT, NOTHING_COMPARED = 0, 1, 2, 3
UNBUILT = ("rank_size", "tp", "pp", "vpp", "order")


def parser() -> argparse.ArgumentParser:
    """The command line. Options named as the peer names them keep its meaning."""
    arguments = argparse.ArgumentParser(
        prog="graph-convert",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compare two dumps of a model (or build the graph of one) and write graph files for TensorBoard.",
        epilog="exit codes: 0 done; 1 the level of --fail-on was reached; 2 bad input or usage; 3 nothing could be compared",
    )
    _add_input(arguments.add_argument_group("what to compare"))
    _add_output(arguments.add_argument_group("where results go"))
    _add_matching(arguments.add_argument_group("matching"))
    _add_judging(arguments.add_argument_group("judging"))
    _add_running(arguments.add_argument_group("running"))
    merging = arguments.add_argument_group("merging parallel ranks (not built yet: refused)")
    for name in UNBUILT:
        merging.add_argument(f"--{name}", nargs="+", metavar="N", help=argparse.SUPPRESS)
    return arguments


def _add_input(source: argparse._ArgumentGroup) -> None:
    source.add_argument(
        "-i",
        "--input",
        metavar="compare.json",
        help='{"npu_path": target dump, "bench_path": golden dump}; paths from the current directory',
    )
    source.add_argument("-tp", "--target_path", metavar="DIR", help="target dump: the side under debug")
    source.add_argument("-gp", "--golden_path", metavar="DIR", help="golden dump: the reference; without it one graph is built")
    source.add_argument(
        "-f",
        "--framework",
        metavar="pytorch|mindspore",
        choices=("pytorch", "mindspore"),
        help="accepted for compatibility; the dumps say it themselves",
    )


def _add_output(output: argparse._ArgumentGroup) -> None:
    output.add_argument("-o", "--output_path", metavar="DIR", default="output", help="directory for the graph files (default: output)")
    output.add_argument("--report", metavar="FILE", default="", help="JSON summary for scripts")
    output.add_argument("--pairs", metavar="FILE", default="", help="every pair as one JSON object a line")
    output.add_argument("--csv", metavar="FILE", default="", help="every compared tensor as a table")
    output.add_argument("--junit", metavar="FILE", default="", help="every pair as a JUnit test case")
    output.add_argument("--timings", metavar="FILE", default="", help="seconds by stage as JSON")


def _add_matching(matching: argparse._ArgumentGroup) -> None:
    matching.add_argument(
        "-lm",
        "--layer_mapping",
        metavar="YAML",
        nargs="?",
        const="",
        help="layer-mapping file; without a file: equal paths only (--match mapping)",
    )
    matching.add_argument("-fm", "--fuzzy_match", action="store_true", help="equal module paths, API sequences aligned; adds to -lm")
    matching.add_argument(
        "--match",
        choices=METHODS,
        help="auto (default): every step; exact: equal names only; mapping: only the mapping file",
    )
    matching.add_argument("--matches", metavar="FILE", default="", help="manual matches (*.matches.yaml)")


def _add_judging(judging: argparse._ArgumentGroup) -> None:
    judging.add_argument("--policy", metavar="NAME|FILE", default="default", help="tolerances and rules: default, msprobe, or a YAML file")
    judging.add_argument("-oc", "--overflow_check", action="store_true", help="also find where values overflow")
    judging.add_argument(
        "--fail-on", choices=("error", "warning", "unmatched"), default="", dest="fail_on", help="exit with 1 if a pair is that bad"
    )


def _add_running(running: argparse._ArgumentGroup) -> None:
    running.add_argument("--jobs", type=_count, default=0, metavar="N", help="ranks converted at a time (default: one a core)")
    running.add_argument("--engine", choices=("local", "ray"), default="local", help="ray: on an existing Ray cluster")
    running.add_argument(
        "-progress_log", "--is_print_progress_log", action="store_true", dest="progress_log", help="print machine-readable progress lines"
    )
    running.add_argument(
        "-tensor_log", "--is_print_compare_log", action="store_true", dest="tensor_log", help="accepted for compatibility (see --csv)"
    )


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, found {text!r}") from None
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, found {text}")
    return value


def options_of(arguments: argparse.Namespace, command: Sequence[str]) -> tuple[Options, list[str]]:
    """The options of parsed arguments, and warnings.

    Raises:
        UserError: they contradict each other, or compare.json is wrong.
    """
    for name in UNBUILT:
        if getattr(arguments, name) is not None:
            raise UserError(message("cli.parallel_merge",
                                    "--{name}: merging parallel ranks is not built yet; leave it out to compare rank by rank",
                                    name=name))
    warnings: list[str] = []
    target, golden = arguments.target_path or "", arguments.golden_path or ""
    if arguments.input is not None:
        if target or golden:
            raise UserError(message("cli.two_sources", "-i and -tp/-gp both name the dumps: use one of the two"))
        from converter.compare_json import read_compare_file

        compare_file = read_compare_file(arguments.input)
        target, golden, warnings = compare_file.target, compare_file.golden, compare_file.warnings
    if not target:
        raise UserError(message("cli.no_dump", "no dump is named: use -i compare.json, or -tp TARGET [-gp GOLDEN]"))
    if not arguments.output_path:
        raise UserError(message("cli.no_output", "-o names no directory: leave it out for the directory output"))
    match = arguments.match or (
        "fuzzy" if arguments.fuzzy_match and arguments.layer_mapping is None else "mapping" if arguments.layer_mapping == "" else "auto"
    )
    if match == "exact" and arguments.layer_mapping:
        raise UserError(message("cli.exact_mapping", "--match exact uses no mapping file: leave out -lm, or use --match mapping"))
    return Options(
        target,
        golden,
        arguments.output_path,
        arguments.layer_mapping or "",
        match,
        arguments.policy,
        arguments.overflow_check,
        arguments.matches,
        arguments.jobs,
        arguments.engine,
        arguments.report,
        arguments.pairs,
        arguments.csv,
        arguments.junit,
        arguments.timings,
        arguments.fail_on,
        list(command),
    ), warnings


# How a conversion is run does not decide what it writes: these stay out of the recorded command.
UNRECORDED = ("--engine", "--jobs")


def recorded(words: Sequence[str]) -> list[str]:
    """The command as graph files and reports record it."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in UNRECORDED:
            skip = True
        elif not word.startswith(tuple(f"{name}=" for name in UNRECORDED)):
            kept.append(as_text(word))
    return kept


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Run graph-convert; returns the exit code. User errors are one sentence on standard error."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = parser().parse_args(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    progress = None
    previous = _interrupt_on_signals()
    try:
        if arguments.progress_log:
            progress = Progress(machine_readable=True)
        options, warnings = options_of(arguments, ["graph-convert", *recorded(words)])
        from converter.pipeline import convert  # after the arguments: --help stays quick
        from converter.report import summary_lines

        progress = progress or Progress()
        conversion = convert(options, progress)
        progress.close()
        _print([*(f"warning: {text}" for text in warnings + conversion.warnings), *summary_lines(conversion.report)])
        _print_result(conversion.directory)
        return _exit_code(conversion.report, conversion.outcomes, options)
    except UserError as error:
        if progress is not None:
            progress.close(error.told)
        print(f"graph-convert: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:  # outside of any file that was asked for, such as a current directory that is gone
        if progress is not None:
            progress.close(str(error))
        print(f"graph-convert: {error.filename or 'the current directory'}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        if progress is not None:
            progress.close("interrupted")
        print("graph-convert: interrupted; nothing was written", file=sys.stderr)
        return 130
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt_on_signals() -> dict[int, Any]:
    """A conversion that is terminated, or whose terminal goes, cleans up like an interrupted one. Returns the handlers before."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or threading.current_thread() is not threading.main_thread():
            continue
        if signal.getsignal(number) == signal.SIG_DFL:  # under nohup it is ignored, and stays so
            previous[number] = signal.signal(number, interrupt)
    return previous


def _print_result(directory: str) -> None:
    """The directory on standard output, for scripts. Whoever closed it does not want to know."""
    try:
        print(directory.encode(sys.stdout.encoding or "utf-8", "backslashreplace").decode(sys.stdout.encoding or "utf-8"), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain about it once more at its end


def _print(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _exit_code(report, outcomes, options: Options) -> int:  # type: ignore[no-untyped-def]
    compared = [entry for entry in report["graphs"] if "pairs" in entry]
    if options.golden and not any(entry["pairs"]["total"] for entry in compared):
        return NOTHING_COMPARED
    judged = any(entry["status"][name] for entry in compared for name in ("pass", "warning", "error"))
    if options.golden and not judged and any(entry["mode"] != "structure" for entry in compared):
        return NOTHING_COMPARED
    if not options.fail_on:
        return DONE
    bad = any(
        entry["status"]["error"]
        or (options.fail_on != "error" and entry["status"]["warning"])
        or (options.fail_on == "unmatched" and (entry["unmatched"]["target"] or entry["unmatched"]["golden"]))
        for entry in compared
    )
    return LEVEL_REACHED if bad or any(outcome.error for outcome in outcomes) else DONE


if __name__ == "__main__":
    sys.exit(main())
