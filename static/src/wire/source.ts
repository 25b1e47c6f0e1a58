/** Where graph files come from: the plugin's HTTP API, or data embedded in an exported page. */
import type { GraphKey, Said } from '../core/types';

export interface LocalText {
  readonly en: string;
  readonly zh: string;
  readonly said?: string | Said; // what the converter said, which has its Chinese sentence in the viewer
}

export interface RunGraph {
  readonly step: number;
  readonly rank: number;
  readonly file: string;
  readonly size?: number;
  readonly version?: string;
  readonly verdict?: string; // one word: parameter | introduced | inherited | warning | clean | '' (docs/http_api.md)
  readonly error?: LocalText | null;
}

export interface Run {
  readonly run: string; // path relative to the log directory
  readonly kind: 'compare' | 'build';
  readonly created?: string;
  readonly dumps?: string; // which dumps these are, short: "megatron_vs_hf/megatron ↔ hf"
  readonly graphs: readonly RunGraph[];
  readonly error?: LocalText | null;
}

export interface RunList {
  readonly runs: readonly Run[];
  readonly scanning: boolean;
  readonly logdir_empty: boolean;
  readonly problems?: readonly LocalText[]; // log directories that are not there, are files or cannot be read
  readonly writable: boolean;
  readonly converting?: boolean; // conversions may be started in the browser
  readonly host: string;
}

export interface SectionEntry {
  readonly name: string;
  readonly stored_length: number;
  readonly raw_length: number;
}

export interface GraphIndex {
  readonly version: string;
  readonly major: number;
  readonly tool: string;
  readonly sections: readonly SectionEntry[];
}

const NAME = 'SourceError';

/** A request that failed; the message is for the user, in both languages. */
export class SourceError extends Error {
  constructor(
    readonly text: LocalText,
    readonly code: string,
  ) {
    super(text.en);
    this.name = NAME;
  }

  /** By its name: where something in front of the server changes the address of index.js, the browser holds this module twice. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === NAME;
  }
}

export interface Source {
  runs(): Promise<RunList>;
  index(key: GraphKey): Promise<GraphIndex>;
  /** Raw (un-gzipped) protobuf bytes of one section. Throws SourceError. */
  section(key: GraphKey, name: string, version: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** Panels' further requests (GET without a body, POST with a JSON body) below the plugin's route. Throws SourceError. */
  request<T>(route: string, parameters: Record<string, string | number>, body?: unknown): Promise<T>;
}
