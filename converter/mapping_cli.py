"""graph-mapping: looks after mapping files. Arguments in, exit code out; nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from converter.errors import UserError
from converter.version import VERSION

if TYPE_CHECKING:
    from converter.match.mapping_invert import Problem
    from converter.match.mapping_propose import Proposal
    from converter.match.mapping_rules import MappingFile
    from converter.tree.graph import Graph


def main(arguments: Sequence[str] | None = None) -> int:
    """0 done (warnings included); 2 bad input or usage."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except UserError as problem:
        print(f"graph-mapping: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graph-mapping", description="Check, invert, list and propose mapping files (docs/mapping.md).")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lint = commands.add_parser("lint", help="check a mapping file; with two dumps also say what each rule hits and what stays uncovered")
    lint.add_argument("file", help="mapping file, or the name of a template")
    _dump_arguments(lint, required=False)
    lint.set_defaults(run=_lint)

    invert = commands.add_parser("invert", help="write the same mapping for the other direction")
    invert.add_argument("file", help="mapping file, or the name of a template")
    invert.add_argument("-o", "--output", help="file to write (default: standard output)")
    _dump_arguments(invert, required=False)
    invert.set_defaults(run=_invert)

    templates = commands.add_parser("templates", help="list the shipped templates, or print one")
    templates.add_argument("name", nargs="?", help="template to print")
    templates.set_defaults(run=_templates)

    propose = commands.add_parser("propose", help="write down what automatic matching finds between two dumps")
    propose.add_argument("-o", "--output", help="file to write (default: standard output)")
    _dump_arguments(propose, required=True)
    propose.set_defaults(run=_propose)
    return parser


def _dump_arguments(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument("-tp", "--target_path", required=required, metavar="DIR", help="dump directory of the side under debug")
    parser.add_argument("-gp", "--golden_path", required=required, metavar="DIR", help="dump directory of the reference")


def _graphs(options: argparse.Namespace) -> list[tuple[Graph, Graph]]:
    """Both graphs of every rank that the two dumps have in common; empty without dumps."""
    if not options.target_path and not options.golden_path:
        return []
    if not options.target_path or not options.golden_path:
        raise UserError("give both -tp and -gp, or neither")
    from converter.dumps.layout import find_ranks, pair_ranks
    from converter.dumps.reader import read_dump
    from converter.tree.build import build_tree
    from converter.tree.graph import graph_of

    (targets, notes), (goldens, more) = find_ranks(options.target_path), find_ranks(options.golden_path)
    pairs, others = pair_ranks(targets, goldens)
    for note in notes + more + others:
        print(f"graph-mapping: {note}", file=sys.stderr)
    graphs = []
    for pair in pairs:
        dumps = [read_dump(found.path) for found in pair]
        target, golden = (graph_of(dump, build_tree(dump)) for dump in dumps)
        graphs.append((target, golden))
    return graphs


def _lint(options: argparse.Namespace) -> int:
    from converter.match.mapping import match_by_mapping
    from converter.match.mapping_file import read_mapping
    from converter.match.mapping_lint import lint_lines
    from converter.match.mapping_report import refuse_unknown

    mapping = read_mapping(options.file)
    graphs = _graphs(options)
    if not graphs:
        print(f"{mapping.name}: {len(mapping.rules)} rules, no mistakes; give -tp and -gp to see what they hit")
        return 0
    matches = [match_by_mapping(target.tree, golden.tree, mapping) for target, golden in graphs]
    print("\n".join(lint_lines(mapping, matches, [target.tree for target, _ in graphs], [golden.tree for _, golden in graphs])))
    refuse_unknown(mapping, [match.unknown for match in matches])
    return 0


def _invert(options: argparse.Namespace) -> int:
    from converter.match.mapping_file import read_mapping
    from converter.match.mapping_invert import classes_from_trees, invert_mapping
    from converter.match.mapping_write import write_mapping

    mapping = read_mapping(options.file)
    for target, golden in _graphs(options):
        mapping = classes_from_trees(mapping, target.tree, golden.tree)
    inverse = invert_mapping(mapping)
    if inverse.problems:
        raise UserError("\n".join([*_problem_lines(mapping, inverse.problems),
                                   "A file is also applied in the other direction as it stands, with 'invert: true' in it"]))
    for line in _problem_lines(mapping, inverse.notes):
        print(f"graph-mapping: {line}", file=sys.stderr)
    _write(options.output, write_mapping(inverse.mapping, f"The inverse of {mapping.name}"))
    return 0


def _problem_lines(mapping: MappingFile, problems: list[Problem]) -> list[str]:
    return [f"{mapping.name}, line {problem.line}, column {problem.column}: {problem.message}" for problem in problems]


def _templates(options: argparse.Namespace) -> int:
    from converter.match.mapping_report import with_suggestion
    from mappings import templates

    found = {template.name: template for template in templates()}
    if options.name is None:
        width = max(map(len, found), default=0)
        print("\n".join(f"{name:{width}}  {template.title}" for name, template in found.items()))
        return 0
    name = options.name[:-5] if options.name.endswith(".yaml") else options.name
    if name not in found:
        text = with_suggestion(f"there is no template '{options.name}'", name, found)
        raise UserError(f"{text}; 'graph-mapping templates' lists them")
    print(found[name].text, end="")
    return 0


def _propose(options: argparse.Namespace) -> int:
    from converter.match.automatic import match_trees
    from converter.match.mapping_propose import join_proposals, propose_mapping
    from converter.match.mapping_write import write_mapping

    proposals = []
    for target, golden in _graphs(options):
        proposals.append(propose_mapping(target.tree, golden.tree, match_trees(target, golden)))
    proposal = join_proposals(proposals)
    header = (f"Proposed by graph-mapping from automatic matching\ntarget: {options.target_path}\ngolden: {options.golden_path}\n"
              f"Applied again it makes {proposal.agreed} of {proposal.agreed + len(proposal.missing)} pairs of module calls.")
    text = write_mapping(proposal.mapping, header, proposal.comments)
    if proposal.doubtful:
        text += "".join(f"# {line}\n" for line in ("Not written as rules, because automatic matching is not sure:", *proposal.doubtful))
    _write(options.output, text)
    _tell(proposal)
    return 0


def _tell(proposal: Proposal) -> None:
    """Where the proposed file and automatic matching differ, on standard error."""
    for text, found in (("found by automatic matching, but not said by the file", proposal.missing),
                        ("made by the file, but not found by automatic matching", proposal.added)):
        if found:
            print(f"graph-mapping: {len(found)} pairs are {text}, such as {found[0]}", file=sys.stderr)
    for warning in proposal.warnings:
        print(f"graph-mapping: {warning}", file=sys.stderr)


def _write(path: str | None, text: str) -> None:
    if path is None:
        print(text, end="")
        return
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as problem:
        raise UserError(f"{path} cannot be written: {problem.strerror or problem}") from None


if __name__ == "__main__":
    sys.exit(main())
