import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../../../lab/host/processes.ts';
import { run } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';

const DEADLINE_MS = 10_000;
/** Applied at both ends: a monitor that does not see it is broken, not silent. */
const PROBE = 'add table inet probe; delete table inet probe';

/** `nft monitor`: all changes of the rules, seen by a separate process. */
export class RulesMonitor implements AsyncDisposable {
  readonly #namespacePath: string;
  #folder = '';
  #daemon: Daemon | undefined;
  #readyLength = 0;

  constructor(namespacePath: string) {
    this.#namespacePath = namespacePath;
  }

  /** Resolves when it has seen a change. */
  async ready(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'fairlead-faults-'));
    this.#daemon = startDaemon({
      name: 'nft monitor',
      namespacePath: this.#namespacePath,
      argv: ['stdbuf', '-oL', 'nft', 'monitor'],
      logFile: join(this.#folder, 'monitor.log'),
    });
    this.#readyLength = (await this.#probe(0)).length;
  }

  /** What it saw since it was ready, but for the probes. */
  async end(): Promise<string> {
    const text = await this.#probe(this.#readyLength);
    const lines = text.slice(this.#readyLength).split('\n');
    return lines.filter((line) => !/inet probe|^# new generation|^$/.test(line)).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.kill();
    if (this.#folder !== '') await rm(this.#folder, { recursive: true, force: true });
  }

  async #probe(from: number): Promise<string> {
    const seen = async (): Promise<string | undefined> => {
      await run(enterNamespace(this.#namespacePath, ['nft', PROBE]));
      const text = await readFile(join(this.#folder, 'monitor.log'), 'utf8');
      return text.slice(from).includes('delete table inet probe') ? text : undefined;
    };
    return await until(seen, { what: 'nft monitor to see a change', deadlineMs: DEADLINE_MS });
  }
}
