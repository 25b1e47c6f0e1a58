/** The page: top bar, verdicts, layer strip, panels, graphs, details; or what to do when there is nothing to show. */
import { announcement, failure, graph, loading, note, panelWidth } from '../state/app';
import { listFailure, listRuns, newer, openGraph } from '../state/open';
import { working } from '../state/rematch';
import { local, t } from '../i18n';
import { Details } from './details';
import { Empty } from './empty';
import { GraphsStrip } from './graphs_strip';
import { Help } from './help';
import { LayerStrip } from './layer_strip';
import { openPanel } from './panels';
import { Panes } from './panes';
import { Rail } from './rail';
import { Splitter } from './splitter';
import { TopBar } from './top_bar';
import { VerdictBar } from './verdict_bar';

function SidePanel() {
  const entry = openPanel();
  if (!entry) return null;
  const Component = entry.component;
  return (
    <>
      <aside class="panel" style={{ width: `${panelWidth.value}px` }} aria-label={t(entry.title)}>
        <Component />
      </aside>
      <Splitter direction="vertical" label={t(entry.title)} size={panelWidth} smallest={180} largest={640} grows={1} />
    </>
  );
}

function NewerNotice() {
  const opened = graph.value;
  if (!newer.value || !opened) return null;
  return (
    <div class="notice" role="status">
      {t('runs.newer')} <button onClick={() => void openGraph(opened.key)}>{t('runs.openNewer')}</button>
    </div>
  );
}

function ListNotice() {
  if (!listFailure.value || !graph.value) return null;
  return (
    <div class="notice" role="alert">
      {t('runs.notListed', { why: local(listFailure.value) })} <button onClick={() => void listRuns(false)}>{t('failure.retry')}</button>
    </div>
  );
}

export function App() {
  const opened = graph.value;
  return (
    <div class="app">
      <TopBar />
      <NewerNotice />
      <ListNotice />
      {opened && !failure.value ? (
        <>
          <GraphsStrip />
          <VerdictBar />
          <LayerStrip />
          <main class="main">
            <Rail />
            <SidePanel />
            <Panes />
          </main>
          <Details />
        </>
      ) : (
        <main class="alone">
          <Empty />
        </main>
      )}
      {working.value && opened ? <div class="progress" role="status" aria-label={t('matches.working')} /> : null}
      {loading.value && opened ? <div class="progress" role="status" aria-label={t('loading.graph', { what: loading.value.what })} /> : null}
      <Help />
      <div class="hidden" role="status" aria-live="polite">
        {announcement.value}
      </div>
      {note.value ? (
        <div class="toast" role="status">
          {note.value}
        </div>
      ) : null}
    </div>
  );
}
