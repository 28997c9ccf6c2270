import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../../../lab/host/processes.ts';
import { run } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';

const DEADLINE_MS = 10_000;
const TABLE = ['table', 'ip', 'fairlead'] as const;
const TAKE = `delete ${TABLE.join(' ')}; add ${TABLE.join(' ')} { flags owner; }\n`;

/**
 * Another process that owns our table: the kernel rejects writes of all other processes with EPERM.
 * When it exits, the kernel deletes the table without a notification.
 */
export class TableOwner implements AsyncDisposable {
  readonly #namespacePath: string;
  #folder = '';
  #daemon: Daemon | undefined;

  constructor(namespacePath: string) {
    this.#namespacePath = namespacePath;
  }

  async take(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'fairlead-faults-'));
    const input = join(this.#folder, 'input');
    await run(['mkfifo', input]);
    this.#daemon = startDaemon({
      name: 'nft -i',
      namespacePath: this.#namespacePath,
      // Also a writer, so that it never reads an end of its input.
      argv: ['sh', '-c', 'exec nft -i <> "$0"', input],
      logFile: join(this.#folder, 'nft.log'),
    });
    await writeFile(input, TAKE);
    const isOwned = async (): Promise<boolean> => {
      const listing = await run(enterNamespace(this.#namespacePath, ['nft', 'list', ...TABLE]));
      return listing.includes('flags owner');
    };
    await until(isOwned, { what: 'the table to have an owner', deadlineMs: DEADLINE_MS });
  }

  async leave(): Promise<void> {
    await this.#daemon?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    if (this.#folder !== '') await rm(this.#folder, { recursive: true, force: true });
  }
}
