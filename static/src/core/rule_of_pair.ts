/** A selected pair as a rule of a mapping file: what a person would write to have the two paired by class everywhere. */
import type { RuleLine } from './mapping_text';
import type { Names } from './names';
import { NodeKind, pairNodes, sideOf, type Graph, type NodeRef, type SideName } from './types';

/** Scope of modules that lie in no other module (docs/mapping.md). */
const TOP_LAYER = 'TopLayer';

/** null where a rule cannot name the node: a call of an API, a container. A side without nodes stays empty. */
export function ruleOfPair(graph: Graph, names: Names, ref: NodeRef): RuleLine | null {
  const side = sideOf(graph, ref.side);
  if (!side || side.kind[ref.node] !== NodeKind.module) return null;
  const pair = side.pair[ref.node];
  const nodes = (which: SideName): readonly number[] => (pair >= 0 ? Array.from(pairNodes(graph.pairs, pair, which)) : which === ref.side ? [ref.node] : []);
  const labels = (which: SideName): string => {
    const own = sideOf(graph, which);
    return own ? nodes(which).map((node) => names.ownLabel(own, node)).join(', ') : '';
  };
  const first = nodes('target')[0];
  const above = first === undefined ? 0 : names.moduleAbove(graph.target, first);
  const scope = first === undefined ? '' : above > 0 ? names.of(graph.target, above).type : TOP_LAYER;
  return { scope, source: labels('target'), target: labels('golden') };
}
