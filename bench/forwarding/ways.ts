import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { LabError } from '../../lab/host/errors.ts';
import { processesByNamespace } from '../../lab/host/namespace-processes.ts';
import type { ProxySettings } from '../../lab/proxies/contract.ts';
import { fairlead } from '../../lab/proxies/fairlead.ts';
import type { FairleadMode } from '../../lab/proxies/fairlead-modes.ts';
import { startOn } from '../control/proxy-process.ts';
import { mostHeld } from './files.ts';
import { frontendAddress, startHaproxy } from './haproxy.ts';
import { type Addresses, addresses, type ForwardingSite } from './site.ts';

/** A way from the client to the endpoints, while it can be used. */
export interface RunningWay {
  readonly to: Addresses;
  /** Ended: with what. */
  ended(): string | undefined;
  /** Those that forward, and those that belong to them. */
  processes(): Promise<{ readonly forwarding: readonly number[]; readonly others: number[] }>;
  stop(): Promise<void>;
}

export interface Way {
  readonly name: string;
  /** Copying threads; 0: the kernel forwards. */
  readonly threads: number;
  start(site: ForwardingSite, program: readonly string[]): Promise<RunningWay>;
}

/** Ways that run side by side on one node, so that their slices of load can alternate. */
export interface Group {
  readonly name: string;
  readonly ways: readonly Way[];
}

const LARGE_BUFFER_BYTES = 128 * 1024;
/** Beside those that are held: connections of an earlier load may still be closing. */
const SPARE_CONNECTIONS = 400;

const GROUPS: readonly Group[] = [
  {
    name: 'kernel',
    ways: [
      { name: 'direct', threads: 0, start: (site) => Promise.resolve(direct(site)) },
      { name: 'fairlead-nftables', threads: 0, start: ofFairlead('nftables') },
    ],
  },
  { name: 'one-thread', ways: processes(1) },
  { name: 'all-cpus', ways: processes(availableParallelism()) },
];

/**
 * Asked for by name: the forwarder connects from the node's own address, as HAProxy does, instead of
 * the client's. What it does more than HAProxy otherwise is the difference to the group of one thread.
 */
const OWN_ADDRESS: Group = {
  name: 'own-address',
  ways: processes(1).map((way) =>
    way.name === 'fairlead-userspace'
      ? {
          ...way,
          name: 'fairlead-userspace-own-address',
          start: ofFairlead('userspace', 1, { masqueradeAll: true }),
        }
      : way,
  ),
};

/** All that can be asked for. */
export const EVERY_GROUP: readonly Group[] = [...GROUPS, OWN_ADDRESS];

function processes(threads: number): Way[] {
  const large = { threads, index: 1, bufferBytes: LARGE_BUFFER_BYTES };
  return [
    { name: 'fairlead-userspace', threads, start: ofFairlead('userspace', threads) },
    { name: 'haproxy', threads, start: ofHaproxy({ threads, index: 0 }) },
    { name: 'haproxy-128k', threads, start: ofHaproxy(large) },
  ];
}

/** Unique in a run. */
export function wayText({ name, threads }: Pick<Way, 'name' | 'threads'>): string {
  if (threads === 0) return name;
  return `${name}, ${threads === 1 ? '1 thread' : `${threads} threads`}`;
}

export function parseGroups(text: string): Group[] {
  if (text === 'all') return [...GROUPS];
  if (text.includes(`${OWN_ADDRESS.name},`) || text.includes(`,${OWN_ADDRESS.name}`)) {
    throw new LabError('LAB_USAGE', `${OWN_ADDRESS.name} has ways of the same names as others`, {
      next: 'measure it in a run of its own',
    });
  }
  return text.split(',').map((part) => {
    const found = EVERY_GROUP.find(({ name }) => name === part.trim());
    if (found) return found;
    throw new LabError('LAB_USAGE', `there is no group named '${part}'`, {
      next: `choose all, or some of: ${EVERY_GROUP.map(({ name }) => name).join(', ')}`,
    });
  });
}

function direct({ direct: to }: ForwardingSite): RunningWay {
  return {
    to,
    ended: () => undefined,
    processes: async () => ({ forwarding: [], others: [] }),
    stop: () => Promise.resolve(),
  };
}

function ofFairlead(mode: FairleadMode, threads?: number, settings?: ProxySettings): Way['start'] {
  return async (site, program) => {
    const name = threads === undefined ? `fairlead-${mode}` : `fairlead-${mode}-${threads}`;
    const description = `Fairlead, ${mode} mode`;
    const limits = threads === undefined ? {} : { threads };
    const variant = fairlead({ name, description, mode, program, ...limits });
    const { daemon } = await startOn(site.lab, variant, settings);
    return {
      to: site.service,
      ended: () => daemon.ended(),
      processes: async () => ({
        forwarding: await forwardersOf(site.nodePath),
        others: [daemon.pid],
      }),
      stop: async () => {
        await daemon.kill();
        // It outlives its agent.
        for (const pid of await forwardersOf(site.nodePath)) process.kill(pid, 'SIGKILL');
      },
    };
  };
}

function ofHaproxy(of: { threads: number; index: number; bufferBytes?: number }): Way['start'] {
  return async (site) => {
    const size = of.bufferBytes === undefined ? '' : '-128k';
    const name = `haproxy${size}-${of.threads}`;
    // A listener for each Service takes one of its descriptors.
    const mostConnections = (await mostHeld(site.forwarded.length)) + SPARE_CONNECTIONS;
    const daemon = await startHaproxy(site, { ...of, name, mostConnections });
    return {
      to: addresses((port) => frontendAddress(site.service[port], of.index)),
      ended: () => daemon.ended(),
      processes: async () => ({ forwarding: [daemon.pid], others: [] }),
      stop: async () => await daemon.kill(),
    };
  };
}

async function forwardersOf(nodePath: string): Promise<number[]> {
  const pids = (await processesByNamespace([nodePath])).get(nodePath) ?? [];
  const found: number[] = [];
  for (const pid of pids) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (/\bforwarder\.(ts|mjs)\0/.test(command)) found.push(pid);
  }
  return found;
}
