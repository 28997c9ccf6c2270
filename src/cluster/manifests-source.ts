import { addAbortSignal, Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { ClusterError } from './cluster-error.ts';
import { watchForChanges } from './manifests/change-watch.ts';
import {
  findManifests,
  type ManifestText,
  readManifest,
  STANDARD_INPUT,
} from './manifests/manifest-files.ts';
import { ManifestSet } from './manifests/manifest-set.ts';
import { Interner } from './narrow/interner.ts';
import type { Kind } from './object-kinds.ts';
import type { ProblemListener, Source, SourceEvent, SourceHealth } from './source.ts';
import { type Scope, scopeFilter } from './watch-scope.ts';

export interface ManifestsSourceOptions {
  /** Files, folders, or `-` for the standard input. */
  readonly paths: readonly string[];
  /** Follow changes until aborted; otherwise read once. */
  readonly isWatching: boolean;
  /** Only this Node, as with an API server; default: all. */
  readonly nodeName?: string;
  /** The Services to read; undefined: all. */
  readonly scope?: Scope;
  readonly onProblem?: ProblemListener;
  readonly standardInput?: AsyncIterable<Buffer | string>;
}

const KINDS: readonly Kind[] = ['service', 'slice', 'node', 'serviceCidr', 'namespace'];

/** Objects from manifests on disk, as `kubectl get -o yaml` writes them. */
export class ManifestsSource implements Source {
  readonly #options: ManifestsSourceOptions;
  #lastReadAtMs = 0;
  #skippedCount = 0;
  #problems: readonly ClusterError[] = [];

  constructor(options: ManifestsSourceOptions) {
    this.#options = options;
  }

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    const { paths, nodeName, isWatching, scope } = this.#options;
    const isWanted = scope === undefined ? () => true : scopeFilter(scope);
    const manifests = new ManifestSet({ interner: new Interner(), nodeName, isWanted });
    // Standard input can be read only once; its objects stay until the end.
    const fromInput = paths.includes(STANDARD_INPUT) ? [await this.#readInput(signal)] : [];
    if (signal.aborted) return;
    const onDisk = paths.filter((path) => path !== STANDARD_INPUT);
    let isFirst = true;
    const readAgain = async (): Promise<void> => {
      const files = await findManifests(onDisk);
      const texts = [...fromInput, ...(await Promise.all(files.map(readManifest)))];
      if (signal.aborted) return;
      const { events, problems } = manifests.update(texts);
      const nothing = texts.length === 0 ? [noManifests(onDisk)] : [];
      this.#note([...problems, ...nothing]);
      for (const event of events) onEvent(event);
      if (isFirst) for (const kind of KINDS) onEvent({ kind, type: 'synced' });
      isFirst = false;
    };
    if (isWatching) await watchForChanges(onDisk, readAgain, signal);
    else await readAgain();
  }

  health(): readonly SourceHealth[] {
    const lastError = this.#problems.at(-1)?.message;
    return KINDS.map((kind) => ({
      kind,
      connected: this.#lastReadAtMs > 0,
      lastHeardAtMs: this.#lastReadAtMs,
      skippedCount: this.#skippedCount,
      ...(lastError === undefined ? {} : { lastError }),
    }));
  }

  async #readInput(signal: AbortSignal): Promise<ManifestText> {
    const file = 'standard input';
    const input = Readable.from(this.#options.standardInput ?? process.stdin);
    try {
      return { file, text: await readAll(addAbortSignal(signal, input)) };
    } catch (cause) {
      const next = 'pass the manifests as files instead';
      const problem = new ClusterError('MANIFEST_UNREADABLE', `cannot read ${file}`, {
        next,
        cause,
      });
      return { file, text: undefined, problem };
    }
  }

  #note(problems: readonly ClusterError[]): void {
    this.#lastReadAtMs = performance.now();
    const known = new Set(this.#problems.map(({ message }) => message));
    const fresh = problems.filter(({ message }) => !known.has(message));
    this.#problems = problems;
    this.#skippedCount += fresh.length;
    for (const problem of fresh) this.#options.onProblem?.(problem);
  }
}

function noManifests(paths: readonly string[]): ClusterError {
  const message = `no manifest files in ${paths.join(', ')}`;
  const next = 'pass a folder that contains .yaml, .yml or .json files';
  return new ClusterError('MANIFEST_UNREADABLE', message, { next });
}
