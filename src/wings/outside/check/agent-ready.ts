import { join } from 'node:path';
import { ServerError } from '../../../agent/servers/server-error.ts';
import { readStatus } from '../../../agent/servers/status-client.ts';
import type { StatusPage } from '../../../agent/status-page.ts';
import { isWell } from '../../../commands/status/summary.ts';
import { STATUS_SOCKET } from '../../../config/run-folder.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import { whyNotReady } from '../wait-ready.ts';
import type { ClusterView } from './cluster-view.ts';
import { type Connected, connectedText, tryConnect } from './connect.ts';
import type { ListedService } from './listed.ts';
import { type CheckContext, check, skipped } from './outside-check.ts';
import { hostPort } from './pod-routes.ts';

export const NOT_RUNNING = 'Fairlead does not run on this machine';
const NOT_READY = 'Fairlead is not ready';
const START =
  'start it: systemctl start fairlead; if it does not stay up, journalctl -u fairlead says why';

/** Whether Fairlead runs and has everything in the kernel. */
export const agent = check('agent', async (context) => {
  const page = await readAgent(context);
  if (page === undefined) return skipped(NOT_RUNNING, START);
  const { rows, mode } = page;
  if (!isWell(page)) {
    const next = 'fairlead status shows all of its state; journalctl -u fairlead, its log';
    return problem(`${NOT_READY}: ${whyNotReady(page)}`, next);
  }
  return good(
    `ready, mode ${mode}; ${rows.applied} of ${rows.desired} service ports in the kernel`,
  );
});

/** The name of the check that a verdict rests on. */
export const PROOF = 'a Service';

/** The proof: a connection to a ClusterIP. */
export const service = check(PROOF, async (context) => {
  const absent = whyNotServing(await readAgent(context));
  if (absent !== undefined) return skipped(absent);
  const target = provingService(await context.cluster());
  if (target === undefined) return skipped('no Service with a TCP port and a ready endpoint');
  return judgeService(target, await tryConnect(target, context.signal));
});

/** Undefined: it does not run. */
export async function readAgent({ runFolder }: CheckContext): Promise<StatusPage | undefined> {
  try {
    return (await readStatus({ socketPath: join(runFolder, STATUS_SOCKET) })) as StatusPage;
  } catch (error) {
    if (error instanceof ServerError) return undefined;
    throw error;
  }
}

/** Why a connection to a Service proves nothing; undefined: it is served. */
export function whyNotServing(
  page: Pick<StatusPage, 'conditions'> | undefined,
): string | undefined {
  if (page === undefined) return NOT_RUNNING;
  return page.conditions.firstSync.isTrue ? undefined : NOT_READY;
}

export interface Target {
  readonly service: string;
  readonly address: string;
  readonly port: number;
}

const FIRST_CHOICE = 'default/kubernetes';

/** A Service whose connection must succeed: that of the API server, if it is in the scope. */
export function provingService({
  services,
  endpoints,
}: Pick<ClusterView, 'services' | 'endpoints'>): Target | undefined {
  const hasEndpoint = ({ key, clusterIPs: [first = ''] }: ListedService): boolean =>
    endpoints.some(({ service: owner, address, tcpPort }) => {
      return (
        owner === key && tcpPort !== undefined && address.includes(':') === first.includes(':')
      );
    });
  const usable = services.filter((each) => each.tcpPorts.length > 0 && hasEndpoint(each));
  const chosen = usable.find(({ key }) => key === FIRST_CHOICE) ?? usable[0];
  const [address] = chosen?.clusterIPs ?? [];
  const [port] = chosen?.tcpPorts ?? [];
  if (chosen === undefined || address === undefined || port === undefined) return undefined;
  return { service: chosen.key, address, port };
}

export function judgeService(target: Target, outcome: Connected): BasicFinding {
  const text = `${target.service} at ${hostPort(target.address, target.port)}: ${connectedText(outcome)}`;
  if (outcome === 'connected') return good(text);
  const next =
    outcome === 'no route'
      ? 'see fairlead status for routes to Service ranges; fairlead.serviceRoutes: missing adds them'
      : 'repair the problems above; fairlead services shows what is served';
  return problem(text, next);
}
