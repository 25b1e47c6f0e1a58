/** The address: run, step, rank, micro step, selection and view as short readable fields, in the hash of the page around. */
import { effect } from '@preact/signals';
import { COLOUR_MODES, isMetric, type ColourMode } from '../core/colouring';
import { nodeName } from '../core/names';
import { sideOf, type Graph, type GraphKey, type NodeRef, type SideName } from '../core/types';
import { FIELD_PREFIX, graphKey, hashFields, PLUGIN, readHash, wholeNumber, writeHash } from '../host/address';
import { chosen, colouring, graph, hideExpected, microStep, panel, PANEL_IDS, query, selection, threshold, type PanelId } from './app';
import { FILE_POLICY, inForce } from './rematch';

export interface Address {
  readonly key: GraphKey | null;
  readonly node: { readonly side: SideName; readonly name: string } | null;
  readonly microStep: number;
  readonly colour: ColourMode | null;
  readonly threshold: number | null;
  readonly policy: string | null; // a shipped policy that the verdicts follow instead of the file's own
  readonly hideExpected: boolean; // marked nodes are left out of lists and counts
  readonly panel: PanelId | null;
  readonly query: string;
}

export function parseHash(hash: string): Address {
  const fields = hashFields(hash);
  const node = fields.get('node');
  const colour = fields.get('colour') as ColourMode | undefined;
  const limit = Number(fields.get('threshold') ?? Number.NaN);
  return {
    key: graphKey(fields),
    node: !node ? null : { side: fields.get('side') === 'golden' ? 'golden' : 'target', name: node },
    microStep: wholeNumber(fields.get('micro'), -1),
    colour: colour && (isMetric(colour) || COLOUR_MODES.some((mode) => mode === colour)) ? colour : null,
    threshold: Number.isFinite(limit) && limit >= 0 ? limit : null,
    policy: fields.get('policy') || null,
    hideExpected: fields.get('hide') === 'expected',
    panel: PANEL_IDS.find((id) => id === fields.get('panel')) ?? null,
    query: fields.get('q') ?? '',
  };
}

/** Letters that are harmless in a hash stay readable. */
function escape(text: string): string {
  // Half a character (a lone surrogate) has no escape: it would throw.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(/%2F/g, '/').replace(/%3A/g, ':').replace(/%20/g, '+');
}

export function formatHash(address: Address): string {
  const fields: [string, string][] = [];
  if (address.key) {
    fields.push(['run', address.key.run]);
    if (address.key.step !== 0) fields.push(['step', String(address.key.step)]);
    if (address.key.rank !== 0) fields.push(['rank', String(address.key.rank)]);
  }
  if (address.microStep >= 0) fields.push(['micro', String(address.microStep)]);
  if (address.node) {
    if (address.node.side === 'golden') fields.push(['side', 'golden']);
    fields.push(['node', address.node.name]);
  }
  if (address.colour && address.colour !== 'cause') fields.push(['colour', address.colour]);
  if (address.threshold) fields.push(['threshold', String(address.threshold)]);
  if (address.policy) fields.push(['policy', address.policy]);
  if (address.hideExpected) fields.push(['hide', 'expected']);
  // Whoever gets the address wants to see what was shared, not the panel that shares.
  if (address.panel && address.panel !== 'findings' && address.panel !== 'share') fields.push(['panel', address.panel]);
  if (address.query) fields.push(['q', address.query]);
  return fields.map(([name, value]) => `${FIELD_PREFIX}${name}=${escape(value)}`).join('&');
}

/** The node of a name; null when this graph has none of that name. */
export function findNode(opened: Graph, which: SideName, name: string): NodeRef | null {
  const side = sideOf(opened, which);
  if (!side) return null;
  for (let node = 1; node < side.count; node++) if (nodeName(opened, side, node) === name) return { side: which, node };
  return null;
}

function currentAddress(): Address {
  const opened = graph.value;
  const ref = selection.value;
  const side = opened && ref ? sideOf(opened, ref.side) : null;
  return {
    key: chosen.value,
    node: opened && ref && side ? { side: ref.side, name: nodeName(opened, side, ref.node) } : null,
    microStep: microStep.value,
    colour: colouring.value,
    threshold: threshold.value,
    policy: inForce.value.policy === FILE_POLICY ? null : inForce.value.policy,
    hideExpected: hideExpected.value,
    panel: panel.value,
    query: query.value,
  };
}

/** What is to be seen now, for a page that is saved: what is in force there is in force for good, whatever policy made it. */
export function savedView(): string {
  return formatHash({ ...currentAddress(), policy: null });
}

/** Writes the address whenever what it says changes; a little later, so that held arrow keys write it once. */
export function followAddress(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const fields = formatHash(currentAddress());
    // Nothing is written before the first graph is there: what the address asks for must not be lost.
    if (!graph.value) return;
    clearTimeout(timer);
    timer = setTimeout(() => writeHash(`${PLUGIN}${fields ? `&${fields}` : ''}`), 200);
  });
}

/** What the page's address asks for; of a saved page opened without any, what was to be seen where it was saved. */
export function readAddress(saved = ''): Address {
  const asked = parseHash(readHash());
  return asked.key === null && saved !== '' ? parseHash(saved) : asked;
}

