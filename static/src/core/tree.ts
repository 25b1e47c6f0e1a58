/** Parents and subtree ends from the depth column: with nodes in pre-order, depth is the whole tree. */

/**
 * `depth[0]` is 0 and a node is at most one deeper than the node before it.
 * Throws RangeError where that does not hold: the file is damaged.
 */
export function deriveTree(depth: Uint16Array): { parent: Int32Array; end: Int32Array } {
  const count = depth.length;
  const parent = new Int32Array(count);
  const end = new Int32Array(count);
  let at = 0; // previous node
  if (count > 0) parent[0] = -1;
  for (let node = 1; node < count; node++) {
    const d = depth[node];
    if (d === 0 || d > depth[at] + 1) throw new RangeError(`node ${node} has depth ${d} behind depth ${depth[at]}: the graph file is damaged; convert again`);
    // Everything on the way from the previous node up to the new parent ends here.
    let above = at;
    while (depth[above] >= d) {
      end[above] = node;
      above = parent[above];
    }
    parent[node] = above;
    at = node;
  }
  for (let above = at; above >= 0 && count > 0; above = parent[above]) end[above] = count;
  return { parent, end };
}

/** Nodes of the direct children of `node`, in call order. */
export function* childrenOf(end: Int32Array, node: number): Generator<number> {
  for (let child = node + 1; child < end[node]; child = end[child]) yield child;
}
