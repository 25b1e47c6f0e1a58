/**
 * The file of matches and marks beside one graph. One change is written after the other, also after another graph was opened; changes of two
 * writers are joined; what cannot be written stays in the browser until it can.
 */
import { equalMarks, holdsChange, joined, marksOf, NO_MARKS, type Marks } from '../core/marks';
import type { GraphKey } from '../core/types';
import { SourceError, type Source } from '../wire/source';
import { forgetInBrowser, fromBrowser, isInBrowser, keepInBrowser, tellWritten } from './browser_copy';

/** Answer of the route `matches`. */
export interface MatchesAnswer extends Marks {
  readonly revision: string;
  readonly writable: boolean;
}

/** Where changes are: in the file, in this browser alone, in this browser until they can be written or because the run is gone; or not known (yet). */
export type Kept = 'file' | 'browser' | 'waiting' | 'gone' | 'unknown';

export interface Listener {
  kept(where: Kept): void;
  saving(now: boolean): void;
  failed(problem: unknown): void; // null: not any more
  /** Somebody else has changed the file from `base` to `theirs`. */
  joined(base: Marks, theirs: Marks): void;
}

const TRIES = 5; // somebody else may write again and again
const AGAIN = 5000; // milliseconds until a server that did not answer, or could not write, is asked again

/** Without an answer of the server itself: what was sent may have been written all the same. */
const NO_ANSWER = /^(unreachable|5\d\d)$/;

/** What may pass by itself: the server is starting, its disk is full, or somebody else wrote again and again. */
const PASSES = /^(unreachable|5\d\d|cannot_write|matches_changed)$/;

/** Made when it is needed: for the trace of an error made while a script starts, the browser reads the whole script again (20 ms and more). */
function notKept(): SourceError {
  return new SourceError(
    {
      en: "This browser's storage is full or forbidden: what was matched and marked here is lost with this page. Download it as a file.",
      zh: '浏览器存储已满或被禁用：在此处所做的匹配与标记将随页面关闭而丢失，请下载为文件。',
    },
    'not_kept',
  );
}

/** The run was deleted or renamed while it was open. */
const GONE: ReadonlySet<string> = new Set(['gone', 'no_such_run', 'no_such_graph']);

function codeOf(problem: unknown): string {
  return problem instanceof SourceError ? problem.code : '';
}

export class MatchesFile {
  private onDisk: Marks = NO_MARKS; // what the file held when it was last read or written
  private revision = 'none';
  private wanted: Marks = NO_MARKS;
  private unanswered: Marks[] = []; // what was sent since then without an answer: it may have been written all the same
  private inBrowser: Marks | null = null; // what this page last read from, or put into, the browser's storage
  private writes = true; // false: nothing can be written there
  private queue: Promise<unknown> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly from: Source,
    private readonly key: GraphKey,
    private readonly listener: Listener,
  ) {}

  /** What the file holds, with what waits in this browser. Call once, first. */
  read(): Promise<Marks> {
    const reading = this.load();
    this.queue = reading;
    return reading;
  }

  /** From now on the file shall hold this. */
  keep(now: Marks): void {
    this.wanted = now;
    this.next();
  }

  /** Another tab of this browser has changed the file, or what the browser keeps: that is joined, without writing anything. */
  hear(): void {
    this.queue = this.queue.then(async () => {
      this.joinHere();
      try {
        if (this.writes) await this.join();
      } catch {
        // The next change from here will be told why.
      }
    });
  }

  private next(): void {
    clearTimeout(this.timer);
    this.queue = this.queue.then(() => this.write());
  }

  private async load(): Promise<Marks> {
    const own = fromBrowser(this.key);
    if (isInBrowser(this.key)) this.inBrowser = own.now;
    let found = own.now;
    try {
      const answer = await this.from.request<MatchesAnswer>('matches', { ...this.key });
      this.revision = answer.revision;
      this.onDisk = marksOf(answer);
      this.writes = answer.writable;
      // What was kept here while the file could not be written is not forgotten.
      found = joined(own.base, own.now, this.onDisk);
      this.listener.kept(answer.writable ? 'file' : 'browser');
    } catch (problem) {
      this.onDisk = own.base;
      // An exported page has no server behind it: that is no failure.
      this.writes = codeOf(problem) !== 'not_embedded';
      this.listener.kept(this.writes ? 'unknown' : 'browser');
      if (this.writes) this.listener.failed(problem);
    }
    this.wanted = joined(NO_MARKS, this.wanted, found); // with what was changed before this answer came
    if (this.writes && !equalMarks(found, this.onDisk)) this.next();
    return found;
  }

  private async write(): Promise<void> {
    if (!this.writes) {
      const here = this.keepHere();
      this.listener.kept(here ? 'browser' : 'unknown');
      this.listener.failed(here ? null : notKept());
      return;
    }
    this.listener.saving(true);
    this.listener.failed(null);
    try {
      await this.send();
      forgetInBrowser(this.key);
      this.inBrowser = null;
      this.listener.kept('file');
    } catch (problem) {
      this.writes = codeOf(problem) !== 'read_only';
      const here = this.keepHere();
      this.listener.kept(GONE.has(codeOf(problem)) ? 'gone' : this.writes ? 'waiting' : 'browser');
      this.listener.failed(here ? problem : notKept());
      if (PASSES.test(codeOf(problem))) this.timer = setTimeout(() => this.next(), AGAIN);
    } finally {
      this.listener.saving(false);
    }
  }

  /** Joins what another tab has put into the browser's storage meanwhile. */
  private joinHere(): void {
    if (!isInBrowser(this.key)) return;
    const theirs = fromBrowser(this.key).now;
    const base = this.inBrowser ?? this.onDisk;
    this.inBrowser = theirs;
    if (equalMarks(base, theirs)) return;
    this.wanted = joined(base, this.wanted, theirs);
    this.listener.joined(base, theirs);
  }

  /** Keeps what is wanted in this browser, joined with what another tab has put there meanwhile. False where that cannot be done. */
  private keepHere(): boolean {
    this.joinHere();
    this.inBrowser = this.wanted;
    return keepInBrowser(this.key, this.wanted, this.onDisk);
  }

  private async send(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (this.unanswered.length === 0 && equalMarks(this.wanted, this.onDisk)) return; // a later change was written together with an earlier one
      const sent = this.wanted;
      try {
        const answer = await this.from.request<MatchesAnswer>('matches', {}, { ...this.key, revision: this.revision, ...sent });
        this.revision = answer.revision;
        this.onDisk = marksOf(answer);
        this.unanswered = [];
        tellWritten(this.key, this.revision);
        return;
      } catch (problem) {
        if (NO_ANSWER.test(codeOf(problem))) this.unanswered.push(sent);
        if (codeOf(problem) !== 'matches_changed' || attempt === TRIES) throw problem;
      }
      await this.join();
    }
  }

  /** The file is another one than was read: both changes are joined. Where it holds what was sent from here, that was no other's. */
  private async join(): Promise<void> {
    const answer = await this.from.request<MatchesAnswer>('matches', { ...this.key });
    const theirs = marksOf(answer);
    const base = this.unanswered.filter((sent) => holdsChange(this.onDisk, sent, theirs)).at(-1) ?? this.onDisk;
    this.wanted = joined(base, this.wanted, theirs);
    this.onDisk = theirs;
    this.revision = answer.revision;
    this.unanswered = [];
    if (!equalMarks(base, theirs)) this.listener.joined(base, theirs);
  }
}
