import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { run } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';
import { endpoints } from '../hostile/attack.ts';
import { FLOOD_FROM, FLOOD_PORT } from '../names.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import type { Tenant } from './tenant.ts';

/** What one list may add at once, and as many lists as make up the room of a family. */
const AT_ONCE = 16_384;
const LISTS = 16;
const ENDPOINTS = 3;
/** Some more, for those that the kernel lost on the way. */
const CLIENTS = 18_000;
const PER_SECOND = 20_000;
const FLOOD_DEADLINE_MS = 30_000;
const TIMEOUT_SECONDS = 86_400;
/** The agent counts entries every 30 s. */
const COUNTED_MS = 35_000;
const COUNTED_DEADLINE_MS = 45_000;

/** A quota holds for each list of endpoints. One namespace may have many. */
export const AFFINITY: Bound = {
  name: 'affinity',
  limit: (LISTS * AT_ONCE).toLocaleString('en'),
  modes: ['nftables', 'socket-ebpf', 'tc-ebpf', 'userspace'],
  fill,
  told: /session affinity/,
};

async function fill(tenant: Tenant): Promise<Filled> {
  const addresses: string[] = [];
  for (let index = 0; index < LISTS; index++) addresses.push(await stickyService(tenant, index));
  await tenant.served(LISTS * ENDPOINTS);
  for (const address of addresses) await flood(tenant, address);
  const giveUpAtMs = performance.now() + COUNTED_MS;
  const counted = async (): Promise<number | undefined> => {
    const used = (await tenant.status())?.affinityFill?.remembered ?? 0;
    // A quota of what is free never lets one tenant have all.
    return used >= LISTS * AT_ONCE || performance.now() > giveUpAtMs ? used : undefined;
  };
  const what = 'the agent to count affinity entries';
  const used = await until(counted, { what, deadlineMs: COUNTED_DEADLINE_MS });
  return { to: used.toLocaleString('en'), release: () => undefined };
}

async function stickyService(tenant: Tenant, index: number): Promise<string> {
  const name = `sticky-${index}`;
  const address = await tenant.service(name, {
    ports: [{ protocol: 'UDP', port: FLOOD_PORT, targetPort: FLOOD_PORT }],
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: TIMEOUT_SECONDS } },
  });
  const list = endpoints({ block: 11, count: ENDPOINTS, from: index * ENDPOINTS });
  const ports = [{ name: '', protocol: 'UDP', port: FLOOD_PORT }];
  await tenant.slices(name, [{ addressType: 'IPv4', endpoints: list, ports }]);
  return address;
}

async function flood(tenant: Tenant, address: string): Promise<void> {
  const argv = [
    tenant.tool,
    'flood',
    `--to=${address}:${FLOOD_PORT}`,
    `--from=${FLOOD_FROM}`,
    `--count=${CLIENTS}`,
    `--per-second=${PER_SECOND}`,
  ] as const;
  await run(enterNamespace(tenant.from.namespace, [...argv]), {
    deadlineMs: FLOOD_DEADLINE_MS,
    signal: tenant.signal,
  });
}
