import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cgroupName, makeCgroup, removeCgroup } from '../../lab/host/cgroups.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../../lab/host/processes.ts';
import { run } from '../../lab/host/run.ts';
import { until } from '../../lab/host/until.ts';
import { memoryOf } from '../control/process-figures.ts';
import type { Loaded } from './load.ts';
import type { HeldFigures, UnreadFigures } from './record.ts';
import type { ForwardingSite } from './site.ts';

const OPEN_DEADLINE_MS = 60_000;
/** Delay until memory is read: heaps grow and shrink for a while after the last connection. */
const SETTLE_MS = 2_000;
const UNREAD_CONNECTIONS = 100;

export interface HoldOptions {
  readonly to: string;
  readonly pid: number;
  readonly connections: number;
}

/** Memory of idle connections that have carried one request. */
export async function measureHeld(site: ForwardingSite, of: HoldOptions): Promise<HeldFigures> {
  await using accounts = await Accounts.open(site, of.pid);
  await pause(SETTLE_MS);
  const before = await accounts.read();
  await using _ = await holding(site, { ...of, mode: 'hold' });
  await pause(SETTLE_MS);
  const after = await accounts.read();
  const kernel = after.kernelBytes - before.kernelBytes;
  return {
    connections: of.connections,
    processBytes: (after.processBytes - before.processBytes) / of.connections,
    ...(Number.isNaN(kernel) ? {} : { kernelBytes: kernel / of.connections }),
  };
}

/** Memory of connections into which the client has sent all it could, and nothing was read. */
export async function measureUnread(
  site: ForwardingSite,
  of: Pick<HoldOptions, 'to' | 'pid'>,
): Promise<UnreadFigures> {
  const connections = UNREAD_CONNECTIONS;
  const before = (await memoryOf(of.pid)).proportionalBytes;
  // Earlier ways may have left such connections.
  const queuedBefore = await queuedBytes(site.nodePath);
  await using held = await holding(site, { ...of, connections, mode: 'push' });
  const after = (await memoryOf(of.pid)).proportionalBytes;
  return {
    connections,
    takenBytes: held.loaded.count / connections,
    processBytes: (after - before) / connections,
    queueBytes: ((await queuedBytes(site.nodePath)) - queuedBefore) / connections,
  };
}

/** What the sockets of a namespace hold in their queues. */
async function queuedBytes(path: string): Promise<number> {
  const list = await run(enterNamespace(path, ['ss', '-Htnm', 'state', 'connected']));
  const fields = [...list.matchAll(/skmem:\(r(\d+),.*?,f(\d+),w(\d+),/g)];
  // Reserved bytes may be negative, and are printed without their sign.
  return fields
    .flatMap((each) => each.slice(1, 4))
    .reduce((sum, text) => sum + (Number(text) | 0), 0);
}

interface Holding extends AsyncDisposable {
  readonly loaded: Loaded;
}

async function holding(
  site: ForwardingSite,
  of: HoldOptions & { readonly mode: 'hold' | 'push' },
): Promise<Holding> {
  const logFile = join(site.lab.folder, 'logs', `forwarding-${of.mode}.log`);
  await writeFile(logFile, '');
  const daemon: Daemon = startDaemon({
    name: `client of mode ${of.mode}`,
    namespacePath: site.clientPath,
    argv: [
      site.program,
      'load',
      `--mode=${of.mode}`,
      `--to=${of.to}`,
      `--connections=${of.connections}`,
    ],
    logFile,
  });
  try {
    const line = await until(
      async () => {
        await assertRunning(daemon);
        return (await readFile(logFile, 'utf8')).split('\n').find((each) => each.startsWith('{'));
      },
      { what: `${of.connections} open connections`, deadlineMs: OPEN_DEADLINE_MS },
    );
    return {
      loaded: JSON.parse(line) as Loaded,
      [Symbol.asyncDispose]: () => daemon.stop(),
    };
  } catch (error) {
    await daemon.stop();
    throw error;
  }
}

/** What the kernel charges to a process from now on, by a control group of its own. */
class Accounts implements AsyncDisposable {
  readonly #name: string;
  readonly #pid: number;

  private constructor(name: string, pid: number) {
    this.#name = name;
    this.#pid = pid;
  }

  static async open({ lab }: ForwardingSite, pid: number): Promise<Accounts> {
    const name = cgroupName({ lab: lab.name, role: `forwarding-${pid}` });
    await makeCgroup(name);
    const folder = folderOf(name);
    if (folder !== undefined) await writeFile(join(folder, 'cgroup.procs'), `${pid}`);
    return new Accounts(name, pid);
  }

  /** NaN: the machine does not account for memory of the kernel. */
  async read(): Promise<{ processBytes: number; kernelBytes: number }> {
    const { proportionalBytes } = await memoryOf(this.#pid);
    return { processBytes: proportionalBytes, kernelBytes: await kernelBytes(this.#name) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const folder = folderOf(this.#name);
    // Its processes go back to the group above: a group with processes cannot be removed.
    if (folder !== undefined && existsSync(`/proc/${this.#pid}`)) {
      await writeFile(join(folder, '../cgroup.procs'), `${this.#pid}`);
    }
    await removeCgroup(this.#name);
  }
}

const MEMORY_FOLDERS = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup'];

function folderOf(name: string): string | undefined {
  return MEMORY_FOLDERS.map((folder) => join(folder, name)).find((folder) =>
    existsSync(join(folder, 'memory.stat')),
  );
}

async function kernelBytes(name: string): Promise<number> {
  const folder = folderOf(name);
  if (folder === undefined) return Number.NaN;
  const ofVersion1 = join(folder, 'memory.kmem.usage_in_bytes');
  if (existsSync(ofVersion1)) return Number(await readFile(ofVersion1, 'utf8'));
  const stat = await readFile(join(folder, 'memory.stat'), 'utf8');
  const [, kernel] = /^kernel (\d+)$/m.exec(stat) ?? [];
  return Number(kernel ?? Number.NaN);
}
