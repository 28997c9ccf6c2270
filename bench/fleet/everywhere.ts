import { setTimeout as pause } from 'node:timers/promises';
import { LabError } from '../../lab/host/errors.ts';
import { abortable } from '../../lab/host/interruption.ts';
import { whoAnswers } from '../control/asker.ts';
import { SourcePorts } from '../control/source-ports.ts';
import type { FleetSite } from './site.ts';

/** More often, and the clients of a whole fleet would be most of the load of this machine. */
const ASK_EVERY_MS = 100;
const DEADLINE_MS = 120_000;

/** When a connection from each node is first answered by `who`, on the monotonic clock. */
export async function answeredEverywhereAtMs(of: {
  readonly site: FleetSite;
  readonly nodes: readonly string[];
  readonly who: string;
  readonly signal: AbortSignal;
}): Promise<readonly number[]> {
  return await Promise.all(of.nodes.map((node) => answeredAtMs(of, node)));
}

async function answeredAtMs(
  of: { readonly site: FleetSite; readonly who: string; readonly signal: AbortSignal },
  node: string,
): Promise<number> {
  const { site, who, signal } = of;
  const question = {
    origin: { namespace: site.lab.namespacePath(node) },
    to: site.last.to,
    ports: new SourcePorts(),
  };
  const giveUpAtMs = performance.now() + DEADLINE_MS;
  while (performance.now() < giveUpAtMs) {
    if ((await whoAnswers(question)) === who) return performance.now();
    await abortable(pause(ASK_EVERY_MS), signal);
  }
  throw new LabError('LAB_DEADLINE', `${node} does not forward to ${who}`, {
    next: 'read the log of its proxy',
  });
}
