"""How well modules are matched without any help: precision and recall against truth tables.

    python -m bench.match_score
    python -m bench.match_score --show      # every wrong and every missing pair

Each pair of dumps is matched three times: as it is, and with all component and class names of target or of golden replaced by
names that say nothing. A link is one target node with one golden node; a fused layer has several. Precision is the share of
links between modules that the table asks for, recall the share of the table's links that were made. Pairs that the table
leaves open count in neither.
"""

from __future__ import annotations

import argparse
import glob
import os
import sys
import tempfile
import time
from dataclasses import dataclass

from bench.match_truth import Link, Truth, check_complete, module_calls, read_truth, rename_paths, wanted_links
from bench.neutral_names import neutral_copy
from bench.scale import ROOT
from converter.dumps.reader import read_dump
from converter.match.automatic import match_trees
from converter.match.pairing import Pairing
from converter.tree.build import build_tree
from converter.tree.columns import NodeKind, Tree
from converter.tree.graph import Graph, graph_of

DUMPS = os.path.join(ROOT, "tests", "data")
TABLES = os.path.join(ROOT, "bench", "truth", "*.yaml")


@dataclass(frozen=True)
class Score:
    """Links of one pair of dumps."""

    target: str
    golden: str
    variant: str
    wanted: int
    found: int
    right: int
    seconds: float
    wrong: list[str]
    missing: list[str]

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def score(truth: Truth, target: Graph, golden: Graph, pairing: Pairing, seconds: float, names: tuple[str, str], variant: str) -> Score:
    """Hold a pairing against a truth table. Raises TruthError if the table does not fit the dumps."""
    mine, other = module_calls(target.tree), module_calls(golden.tree)
    check_complete(truth, mine, other)
    wanted = wanted_links(truth.wanted, mine, other)
    found = module_links(pairing, target.tree, golden.tree) - wanted_links(truth.open, mine, other)
    right = wanted & found
    return Score(names[0], names[1], variant, len(wanted), len(found), len(right), seconds,
                 [_told(link, target.tree, golden.tree) for link in sorted(found - wanted)],
                 [_told(link, target.tree, golden.tree) for link in sorted(wanted - found)])


def module_links(pairing: Pairing, target: Tree, golden: Tree) -> set[Link]:
    """All links of a pairing that join two modules, or the gradients of their parameters."""
    links: set[Link] = set()
    start, start_golden = 0, 0
    for end, end_golden in zip(pairing.target_end.tolist(), pairing.golden_end.tolist()):
        mine = [node for node in pairing.target_nodes[start:end].tolist() if _is_module(target, node)]
        other = [node for node in pairing.golden_nodes[start_golden:end_golden].tolist() if _is_module(golden, node)]
        links.update((a, b) for a in mine for b in other)
        start, start_golden = end, end_golden
    return links


def _is_module(tree: Tree, node: int) -> bool:
    return tree.kind[node] in (NodeKind.MODULE, NodeKind.PARAMETERS_GRAD) and bool(tree.paths[tree.path[node]])


def _told(link: Link, target: Tree, golden: Tree) -> str:
    return f"{target.names[link[0]]}  ~  {golden.names[link[1]]}"


def read_graph(directory: str) -> Graph:
    dump = read_dump(directory)
    return graph_of(dump, build_tree(dump))


def measure(truth: Truth, target: str, golden: str, dumps: str, method: str = "auto") -> list[Score]:
    """Match a pair of dumps as it is and with the names of either side replaced."""
    places = [os.path.join(dumps, side, "step0", _first_rank(os.path.join(dumps, side, "step0"))) for side in (target, golden)]
    graphs = [read_graph(place) for place in places]
    scores = []
    with tempfile.TemporaryDirectory() as scratch:
        for variant in ("names as they are", "target neutral", "golden neutral"):
            sides, table = list(graphs), truth
            if variant != "names as they are":
                side = int(variant == "golden neutral")
                directory = os.path.join(scratch, str(side))
                table = rename_paths(truth, neutral_copy(places[side], directory), golden=bool(side))
                sides[side] = read_graph(directory)
            begin = time.perf_counter()
            pairing = match_trees(sides[0], sides[1], method)
            seconds = time.perf_counter() - begin
            scores.append(score(table, sides[0], sides[1], pairing, seconds, (target, golden), variant))
    return scores


def _first_rank(step: str) -> str:
    return min(name for name in os.listdir(step) if name.startswith("rank"))


def table(scores: list[Score]) -> str:
    """One line a match."""
    lines = [_row("target", "golden", "variant", "wanted", "found", "right", "precision", "recall", "s")]
    lines += [_row(one.target, one.golden, one.variant, one.wanted, one.found, one.right, f"{one.precision:.3f}", f"{one.recall:.3f}",
                   f"{one.seconds:.2f}") for one in scores]
    for variant in dict.fromkeys(one.variant for one in scores):
        chosen = [one for one in scores if one.variant == variant]
        wanted, found, right = (sum(getattr(one, name) for one in chosen) for name in ("wanted", "found", "right"))
        lines.append(_row("all", "", variant, wanted, found, right, f"{right / max(found, 1):.3f}", f"{right / max(wanted, 1):.3f}", ""))
    return "\n".join(lines)


def _row(target: str, golden: str, variant: str, *figures: object) -> str:
    return f"{target:<40} {golden:<36} {variant:<18}" + "".join(f"{figure:>10}" for figure in figures)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tables", default=TABLES, help="truth tables, as a pattern of file names")
    parser.add_argument("--dumps", default=DUMPS, help="directory that holds the dumps of the tables")
    parser.add_argument("--match", default="auto", choices=("auto", "fuzzy", "exact"), help="matching method (default auto)")
    parser.add_argument("--show", action="store_true", help="list every wrong and every missing pair")
    arguments = parser.parse_args()
    scores: list[Score] = []
    for file in sorted(glob.glob(arguments.tables)):
        truth = read_truth(file)
        for target, golden in truth.pairs:
            scores += measure(truth, target, golden, arguments.dumps, arguments.match)
    print(table(scores))
    if arguments.show:
        for one in scores:
            for what, links in (("wrong", one.wrong), ("missing", one.missing)):
                for link in links:
                    print(f"{what:<8} {one.target} / {one.golden} ({one.variant}): {link}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
