import { readFile } from 'node:fs/promises';
import { enterNamespace, setSysctls } from '../../../../lab/host/namespaces.ts';
import { run } from '../../../../lab/host/run.ts';
import { endpoints } from '../hostile/attack.ts';
import { FLOOD_FROM, FLOOD_PORT } from '../names.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import type { Tenant } from './tenant.ts';

const SERVICE = 'flows';
const ENDPOINTS = 3;
const MAX = '/proc/sys/net/netfilter/nf_conntrack_max';
const COUNT = '/proc/sys/net/netfilter/nf_conntrack_count';
const TIMEOUT = 'net.netfilter.nf_conntrack_udp_timeout';
/** Longer than the round, and what the scene sets otherwise. */
const KEPT_SECONDS = 90;
const USUAL_SECONDS = 5;
const PER_SECOND = 40_000;
const FLOOD_DEADLINE_MS = 60_000;
/** The kernel drops unanswered flows early from here on. */
const NEARLY_FULL = 0.95;

/** The limit is the machine's, the count that of one network namespace: only the lab's node is full. */
export const CONNTRACK: Bound = {
  name: 'conntrack',
  limit: 'sysctl',
  modes: ['nftables', 'socket-ebpf', 'tc-ebpf', 'userspace', 'ipvs'],
  fill,
  // Its program lets pass what it cannot track.
  movesAffinityIn: ['tc-ebpf'],
};

async function fill(tenant: Tenant): Promise<Filled> {
  const max = Number(await readFile(MAX, 'utf8'));
  const address = await tenant.service(SERVICE, {
    ports: [{ protocol: 'UDP', port: FLOOD_PORT, targetPort: FLOOD_PORT }],
  });
  const list = endpoints({ block: 12, count: ENDPOINTS, from: 0 });
  const ports = [{ name: '', protocol: 'UDP', port: FLOOD_PORT }];
  await tenant.slices(SERVICE, [{ addressType: 'IPv4', endpoints: list, ports }]);
  await tenant.served(ENDPOINTS);
  await setSysctls(tenant.nodePath, [`${TIMEOUT}=${KEPT_SECONDS}`]);
  await flood(tenant, address, max);
  const count = Number(await run(enterNamespace(tenant.nodePath, ['cat', COUNT])));
  return {
    to: count.toLocaleString('en'),
    ...(count >= max * NEARLY_FULL ? {} : { notFull: `${count} flows of ${max}` }),
    release: async () => {
      await setSysctls(tenant.nodePath, [`${TIMEOUT}=${USUAL_SECONDS}`]);
      await run(enterNamespace(tenant.nodePath, ['conntrack', '-D', '-p', 'udp']));
    },
  };
}

async function flood(tenant: Tenant, address: string, max: number): Promise<void> {
  const argv = [
    tenant.tool,
    'flood',
    `--to=${address}:${FLOOD_PORT}`,
    `--from=${FLOOD_FROM}`,
    `--count=${Math.ceil(max * 1.1)}`,
    `--per-second=${PER_SECOND}`,
  ] as const;
  await run(enterNamespace(tenant.from.namespace, [...argv]), {
    deadlineMs: FLOOD_DEADLINE_MS,
    signal: tenant.signal,
  });
}
