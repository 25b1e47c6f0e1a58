/** Source over data embedded in one exported HTML file; works from file:// without any request. */
import { bytesOf } from '../core/base64';
import type { GraphKey } from '../core/types';
import { gunzip } from './gunzip';
import { SourceError, type GraphIndex, type RunList, type Source } from './source';

/** What `graph-view export` writes: graphs, marks and sections are keyed by `run|step|rank` and `run|step|rank|section name`. */
export interface EmbeddedData {
  readonly view: string; // what the address said where the page was saved; '' where the command line wrote it
  readonly runs: RunList;
  readonly graphs: Readonly<Record<string, GraphIndex>>;
  readonly marks: Readonly<Record<string, unknown>>; // answers to GET matches
  readonly sections: Readonly<Record<string, string>>; // base64 of the stored bytes (gzip)
}

declare global {
  interface Window {
    __TB_GRAPH_EMBEDDED__?: EmbeddedData;
  }
}

const NOT_HERE = {
  en: 'This page was exported without that part. Open the run in TensorBoard to see it.',
  zh: '导出的页面不含这一部分。请在 TensorBoard 中打开该结果查看。',
};

function keyText(key: GraphKey): string {
  return `${key.run}|${key.step}|${key.rank}`;
}

export class EmbeddedSource implements Source {
  constructor(private readonly data: EmbeddedData) {}

  runs(): Promise<RunList> {
    return Promise.resolve(this.data.runs);
  }

  index(key: GraphKey): Promise<GraphIndex> {
    const found = Object.hasOwn(this.data.graphs, keyText(key)) ? this.data.graphs[keyText(key)] : undefined;
    return found ? Promise.resolve(found) : Promise.reject(new SourceError(NOT_HERE, 'not_embedded'));
  }

  section(key: GraphKey, name: string): Promise<Uint8Array> {
    const at = `${keyText(key)}|${name}`;
    if (!Object.hasOwn(this.data.sections, at)) return Promise.reject(new SourceError(NOT_HERE, 'not_embedded'));
    return gunzip(bytesOf(this.data.sections[at]));
  }

  request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T> {
    const at = `${parameters.run}|${parameters.step}|${parameters.rank}`;
    if (route === 'matches' && body === undefined && Object.hasOwn(this.data.marks, at)) return Promise.resolve(this.data.marks[at] as T);
    return Promise.reject(new SourceError(NOT_HERE, 'not_embedded'));
  }
}
