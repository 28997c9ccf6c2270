import { until } from '../../../../lab/host/until.ts';
import { nodeAddress } from '../../../../lab/network/plan.ts';
import { NODE_INDEX } from '../names.ts';
import type { Bound } from './bound.ts';
import type { Filled } from './filled.ts';
import { IdleConnections } from './idle-connections.ts';
import type { Tenant } from './tenant.ts';

const HEALTH_PORT = 10_256;
const CLIENTS = 1_200;
const CLOSED_DEADLINE_MS = 10_000;

/** Idle connections of one pod to the port that kubelet and load balancers ask. */
export const HEALTH_CLIENTS: Bound = {
  name: 'health clients',
  limit: 'nofile/16',
  modes: ['nftables', 'iptables', 'socket-ebpf', 'tc-ebpf', 'userspace', 'ipvs'],
  fill,
};

async function fill(tenant: Tenant): Promise<Filled> {
  const to = { address: nodeAddress(NODE_INDEX).ipv4, port: HEALTH_PORT };
  const idle = new IdleConnections();
  await idle.dial(tenant.from, to, CLIENTS);
  const openCount = await settledCount(idle);
  return {
    to: openCount.toLocaleString('en'),
    release: () => idle[Symbol.dispose](),
  };
}

/** What is closed is closed within an instant: the count of one poll is that of the next. */
async function settledCount(idle: IdleConnections): Promise<number> {
  let before = Number.POSITIVE_INFINITY;
  const isSettled = (): boolean => {
    const isSame = before === idle.openCount;
    before = idle.openCount;
    return isSame && before < CLIENTS;
  };
  const what = 'the health server to close what exceeds its bound';
  await until(isSettled, { what, deadlineMs: CLOSED_DEADLINE_MS });
  return before;
}
