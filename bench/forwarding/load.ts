import { readdir, readFile } from 'node:fs/promises';
import { LabError } from '../../lab/host/errors.ts';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import type { LoadFigures, LoadKind } from './record.ts';
import type { Addresses, ForwardingSite } from './site.ts';

/** What the client prints; see lab/parts/bench/load.go. */
export interface Loaded {
  readonly seconds: number;
  readonly count: number;
  readonly failed: number;
  readonly lastError?: string;
  /** Of the client, then of each process that was named. */
  readonly cpuSeconds: readonly number[];
}

/** Processes whose CPU time is counted. */
export interface Processes {
  readonly forwarding: readonly number[];
  readonly others: readonly number[];
}

export interface LoadOptions {
  readonly kind: LoadKind;
  readonly to: Addresses;
  readonly processes: Processes;
  readonly warmMs: number;
  readonly countMs: number;
  readonly signal?: AbortSignal;
}

/** Fewer where each is busy all the time. */
const CONNECTIONS: Readonly<Record<LoadKind, number>> = { connect: 32, request: 32, transfer: 8 };
const GRACE_MS = 20_000;
const MICROSECONDS = 1e6;
const MEGABYTE = 1e6;

export async function load(site: ForwardingSite, options: LoadOptions): Promise<LoadFigures> {
  const { kind, to, processes, warmMs, countMs, signal } = options;
  const pids = [site.server.pid, ...processes.forwarding, ...processes.others];
  const argv: [string, ...string[]] = [
    site.program,
    'load',
    `--mode=${kind}`,
    `--to=${kind === 'transfer' ? to.sink : to.echo}`,
    ...(kind === 'transfer' ? [`--from=${to.source}`] : []),
    `--connections=${CONNECTIONS[kind]}`,
    `--warm=${warmMs}ms`,
    `--for=${countMs}ms`,
    `--count-cpu-of=${pids.join(',')}`,
  ];
  const deadlineMs = warmMs + countMs + GRACE_MS;
  const output = await run(enterNamespace(site.clientPath, argv), { deadlineMs, signal });
  return figuresOf(kind, JSON.parse(output) as Loaded, processes);
}

export function figuresOf(kind: LoadKind, loaded: Loaded, processes: Processes): LoadFigures {
  const units = kind === 'transfer' ? loaded.count / MEGABYTE : loaded.count;
  if (units === 0) throw nothingForwarded(kind, loaded);
  const [client = 0, server = 0, ...more] = loaded.cpuSeconds;
  const each = (cpuSeconds: readonly number[]): number =>
    (cpuSeconds.reduce((sum, seconds) => sum + seconds, 0) / units) * MICROSECONDS;
  const forwarding = more.slice(0, processes.forwarding.length);
  return {
    perSecond: units / loaded.seconds,
    failed: loaded.failed,
    processUs: each(forwarding),
    clientUs: each([client]),
    serverUs: each([server]),
    othersUs: each(more.slice(forwarding.length)),
  };
}

/** A time without a single one has no cost of one: what was measured is a wait for something else. */
function nothingForwarded(kind: LoadKind, { seconds, lastError }: Loaded): LabError {
  const why = lastError === undefined ? '' : `: ${lastError}`;
  return new LabError('LAB_DEADLINE', `no ${kind} in ${seconds.toFixed(1)} s${why}`, {
    next: 'look for a full conntrack table (conntrack -S) or no free port (ss -s) of the node',
  });
}

/** The kernel's threads that handle packets when softirq work is deferred, of every CPU. */
export async function packetThreads(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/comm`, 'utf8').catch(ifGone);
    if (command.startsWith('ksoftirqd/')) found.push(Number(name));
  }
  return found;
}

/** A process may exit while /proc is read. */
function ifGone(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
  throw error;
}
