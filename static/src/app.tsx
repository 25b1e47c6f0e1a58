/** Starts the viewer: chooses the data source, restores what the address asks for, mounts the page. */
import { render as mount } from 'preact';
import { batch, effect } from '@preact/signals';
import { shortenMiddle } from './core/names';
import type { Graph, NodeRef } from './core/types';
import { onHashChange } from './host/address';
import { followHostDark, onHostReload, takeFocus } from './host/tensorboard';
import { local, t } from './i18n';
import { locale } from './i18n/locale';
import { announcement, chosen, colouring, graph, hideExpected, panel, query, runs, source, threshold } from './state/app';
import { workAhead } from './state/ahead';
import { followSelection } from './state/details';
import { listRuns, openGraph, noticeNewer } from './state/open';
import { loadPreferences, savePreferences } from './state/preferences';
import { followHeatmap } from './state/heatmap';
import { judgeBy } from './state/mapping';
import { followMetrics } from './state/metrics';
import { followRun } from './state/overview';
import { FILE_POLICY, problem as rematchProblem } from './state/rematch';
import { exposeForTests } from './state/snapshot';
import { findNode, followAddress, readAddress, type Address } from './state/url';
import { select, settled } from './state/actions';
import { App } from './ui/app';
import { showNote } from './ui/copy';
import { followKeys } from './ui/keyboard';
import { dropPanelNotOffered } from './ui/panels';
import { followPanels } from './ui/panels/follow';
import { followTheme } from './ui/theming';
import { EmbeddedSource } from './wire/embedded';
import type { AskedAhead } from './wire/opening';
import heatmapSheet from './ui/heatmap.css?inline';
import sheet from './ui/style.css?inline';

const MISSING_TIME = 10_000; // milliseconds; read while the graph is still being drawn
const EMPTY_AFTER = 150; // milliseconds until the page says that it is loading

function applyStyle(): void {
  const style = new CSSStyleSheet();
  style.replaceSync(sheet + heatmapSheet);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
}

function applyAddress(address: Address): void {
  batch(() => {
    if (address.colour) colouring.value = address.colour;
    if (address.threshold !== null) threshold.value = address.threshold;
    hideExpected.value = address.hideExpected;
    if (address.panel) panel.value = address.panel;
    query.value = address.query;
  });
}

async function openAddress(address: Address): Promise<void> {
  applyAddress(address);
  if (!address.key) return;
  // Another graph than the one that was sent: the missing node is no wonder then, and its note must not take this one's place.
  let shown = address.key;
  await openGraph(
    address.key,
    (opened) => ({ microStep: address.microStep, node: addressed(opened, address) }),
    (other) => (shown = other),
  );
  if (shown !== address.key) showNote(t('open.graphMissing', { step: shown.step, rank: shown.rank }), MISSING_TIME);
  if (address.policy && chosen.value === shown) judgeAsAddressed(address.policy); // not where another one was opened meanwhile
}

/** A policy that an address names. A colleague must know when the verdicts follow another one. */
function judgeAsAddressed(policy: string): void {
  if (!graph.value?.golden) return;
  void judgeBy(policy).then((done) => {
    if (!done && rematchProblem.value) showNote(local(rematchProblem.value), MISSING_TIME);
  });
}

/** The node that an address names. A colleague must know when it is another one that opens. */
function addressed(opened: Graph, address: Address): NodeRef | null {
  if (!address.node) return null;
  const found = findNode(opened, address.node.side, address.node.name);
  if (!found) showNote(t('open.nodeMissing', { name: shortenMiddle(address.node.name, 80) }), MISSING_TIME);
  return found;
}

/** Somebody pasted another address into the same tab. */
async function followForeignAddress(): Promise<void> {
  const address = readAddress();
  const now = chosen.value;
  if (!address.key) return;
  if (!now || address.key.run !== now.run || address.key.step !== now.step || address.key.rank !== now.rank) {
    await openAddress(address);
    dropPanelNotOffered();
    return;
  }
  applyAddress(address);
  dropPanelNotOffered();
  judgeAsAddressed(address.policy ?? FILE_POLICY);
  const ref = graph.value && addressed(graph.value, address);
  if (ref) select(ref, { reveal: true });
}

/** `asked`: the server, where the page does not hold all data itself. */
export function start(body: HTMLElement, asked: AskedAhead | null): void {
  applyStyle();
  followHostDark();
  loadPreferences();
  savePreferences();
  followTheme(document.documentElement);
  effect(() => {
    document.documentElement.lang = locale.value === 'zh' ? 'zh-CN' : 'en';
    document.title = t('app.title');
  });
  source.value = window.__TB_GRAPH_EMBEDDED__ ? new EmbeddedSource(window.__TB_GRAPH_EMBEDDED__) : asked;
  followPanels();
  const root = document.createElement('div');
  root.id = 'tb-graph-ascend';
  body.replaceChildren(root);
  followKeys(window);
  for (const event of ['pointerdown', 'wheel', 'keydown']) window.addEventListener(event, settled, { capture: true, passive: true });
  followSelection();
  workAhead();
  followRun();
  followMetrics();
  followHeatmap();
  exposeForTests();

  const address = readAddress(window.__TB_GRAPH_EMBEDDED__?.view);
  // Both at once: the graph of an address needs no list of runs.
  const opened = Promise.all([openAddress(address), listRuns(address.key === null)]);
  // A graph that is there at once is the first thing to be seen: an empty page before it costs as much as it.
  void Promise.race([opened, new Promise((done) => setTimeout(done, EMPTY_AFTER))]).then(() => mount(<App />, root));
  void opened.then(() => {
    asked?.forget();
    dropPanelNotOffered();
    followAddress();
    takeFocus();
  });
  onHashChange(() => void followForeignAddress()); // from the beginning: a large graph takes its time
  onHostReload(() => {
    void listRuns(chosen.value === null).then(() => {
      noticeNewer();
      if (runs.value) announcement.value = t('runs.reloaded');
    });
  });
}
