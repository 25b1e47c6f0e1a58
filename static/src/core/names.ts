/** Node names: the full name, and the short labels that boxes and lists show. Components are never split further than needed. */
import { Direction, NodeKind, NO_CALL, type Graph, type Side } from './types';

/** Full name as the dump has it. */
export function nodeName(graph: Graph, side: Side, node: number): string {
  if (node === 0) return '';
  const call = side.call[node];
  return graph.strings.get(side.head[node]) + (call === NO_CALL ? '' : String(call)) + graph.strings.get(side.tail[node]);
}

/** A name taken apart for display. */
export interface NameParts {
  readonly path: string; // a module's path with prefix, without class: "Module.0.decoder.layers.2"; "" for a call of an API
  readonly type: string; // class of a module, "" where there is none
  readonly whole: string; // what is shown as it is: the API's name, or a name that is no module's; "" of a module
}

const FORWARD = '.forward';
const BACKWARD = '.backward';
const GRADIENT = '.parameters_grad';

/** Where `.forward`, `.backward` at the end of a text begins, with or without a dot behind it; -1 without one. */
function suffixAt(text: string, suffix: string): number {
  const end = text.endsWith('.') ? text.length - 1 : text.length;
  return text.endsWith(suffix, end) ? end - suffix.length : -1;
}

function withoutLastDot(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

/** Splits a head string (the part before the call number). `kind` as in NodeKind. Run for every distinct head of a graph: no expressions. */
export function parseHead(head: string, kind: number): NameParts {
  const direction = Math.max(suffixAt(head, FORWARD), suffixAt(head, BACKWARD));
  if (kind === NodeKind.api) {
    // "Functional.linear." + call + ".forward": prefix, then the API's name, which may hold dots ("Tensor.__add__", "npu.npu_fusion.x").
    const body = withoutLastDot(direction >= 0 ? head.slice(0, direction) : head);
    const first = body.indexOf('.');
    return { path: '', type: '', whole: first < 0 ? body : body.slice(first + 1) };
  }
  const gradient = suffixAt(head, GRADIENT);
  const end = gradient >= 0 ? gradient : direction;
  if (end >= 0) {
    const body = head.slice(0, end);
    const last = body.lastIndexOf('.');
    if (last > 0) {
      return { path: body.slice(0, last), type: body.slice(last + 1), whole: '' };
    }
    return { path: body, type: '', whole: body };
  }
  const path = withoutLastDot(head);
  return { path, type: '', whole: path };
}

/** Last component of the path (with its container when it is a number), or the API's name. Not part of NameParts: very few are asked for. */
export function localName(parts: NameParts): string {
  return parts.whole === '' ? lastComponent(parts.path) : parts.whole;
}

/** "a.layers.12" → "layers.12"; "a.mlp" → "mlp". */
function lastComponent(path: string): string {
  const dot = path.lastIndexOf('.');
  if (dot < 0) return path;
  const last = path.slice(dot + 1);
  const letter = last.charCodeAt(0);
  if (!(letter >= 48 && letter <= 57 && /^\d+$/.test(last))) return last;
  const before = path.lastIndexOf('.', dot - 1);
  return path.slice(before + 1);
}

/** Names of one graph: parsed once per distinct head, kept for as long as the graph is. */
export class Names {
  private readonly parts = new Map<number, NameParts>();

  /** `unnamed`: what stands for a name without a letter. */
  constructor(
    private readonly graph: Graph,
    private readonly unnamed: () => string = () => '',
  ) {}

  of(side: Side, node: number): NameParts {
    // One head string always belongs to one kind of node.
    const head = side.head[node];
    let parts = this.parts.get(head);
    if (parts === undefined) {
      parts = parseHead(this.graph.strings.get(head), side.kind[node]);
      this.parts.set(head, parts);
    }
    return parts;
  }

  full(side: Side, node: number): string {
    return nodeName(this.graph, side, node);
  }

  /** Label inside its parent: the path below the enclosing module, or the API's name with its call number. */
  label(side: Side, node: number): string {
    return this.ownLabel(side, node) || this.unnamed();
  }

  /** The same, '' where the dump's name has nothing to show. */
  ownLabel(side: Side, node: number): string {
    const parts = this.of(side, node);
    const kind = side.kind[node];
    if (kind === NodeKind.api) return side.call[node] === NO_CALL ? parts.whole : `${parts.whole}.${side.call[node]}`;
    if (kind === NodeKind.apiCollection || kind === NodeKind.unplaced) return this.full(side, node);
    if (kind === NodeKind.parametersGrad) return 'parameters_grad';
    const above = this.moduleAbove(side, node);
    if (above > 0) {
      const prefix = `${this.of(side, above).path}.`;
      if (parts.path.startsWith(prefix) && parts.path.length > prefix.length) return parts.path.slice(prefix.length);
    }
    return above > 0 ? localName(parts) : withoutPrefix(parts.path);
  }

  /** The nearest module that encloses a node; 0 when there is none. */
  moduleAbove(side: Side, node: number): number {
    let at = side.parent[node];
    while (at > 0 && side.kind[at] !== NodeKind.module) at = side.parent[at];
    return Math.max(at, 0);
  }

  /** Short but distinguishing: "layers.2 · self_attention · linear_qkv"; an API takes its module's path in front. */
  trail(side: Side, node: number): string[] {
    const labels: string[] = [];
    for (let at = node; at > 0; at = side.parent[at]) labels.push(this.label(side, at));
    return labels.reverse();
  }
}

/** "Module.0.decoder" → "decoder"; "Module.model" → "model"; "Cell.net" → "net". */
function withoutPrefix(path: string): string {
  const short = path.replace(/^(Module|Cell)\.(\d+\.(?=.))?/, '');
  return short === '' ? path : short;
}

/** "layers.2 · input_layernorm" of a module's full name where its node is not at hand; the name of a call of an API as it is. */
export function shortName(full: string): string {
  if (!/^(Module|Cell)\./.test(full)) return full;
  const { path } = parseHead(full.replace(/\.\d+$/, ''), NodeKind.module);
  const parts = withoutPrefix(path).split('.');
  if (parts.length < 2) return parts[0];
  const last = parts[parts.length - 1];
  if (/^\d+$/.test(last)) return parts.slice(-2).join('.');
  let layer = parts.length - 2;
  while (layer > 0 && !/^\d+$/.test(parts[layer])) layer--;
  return layer > 0 ? `${parts[layer - 1]}.${parts[layer]} · ${last}` : parts.slice(-2).join(' · ');
}

/** Keeps both ends of a text that is too long: the end of a name is what tells it from its neighbours. */
export function shortenMiddle(text: string, length: number): string {
  const characters = Array.from(text);
  if (characters.length <= length) return text;
  if (length <= 1) return '…';
  const tail = Math.ceil((length - 1) * 0.6);
  const head = length - 1 - tail;
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - tail).join('')}`;
}

/** "layers.2 · … · linear_qkv": the layer and the end of a trail tell it from its neighbours. */
export function shortTrail(trail: readonly string[], length: number): string {
  if (trail.length === 0) return '';
  const full = trail.join(' · ');
  if (full.length <= length || trail.length === 1) return shortenMiddle(full, length);
  const last = trail[trail.length - 1];
  const layer = trail.find((part, i) => i < trail.length - 1 && /\d/.test(part)) ?? trail[0];
  const joined = trail.length > 2 ? `${layer} · … · ${last}` : `${layer} · ${last}`;
  if (joined.length <= length) return joined;
  const room = length - layer.length - 3;
  return room >= 8 ? `${layer} … ${shortenMiddle(last, room)}` : shortenMiddle(last, length);
}

export function directionOf(side: Side, node: number): 'forward' | 'backward' | 'none' {
  const direction = side.direction[node];
  return direction === Direction.forward ? 'forward' : direction === Direction.backward ? 'backward' : 'none';
}
