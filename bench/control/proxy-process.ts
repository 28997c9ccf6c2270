import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../../lab/host/processes.ts';
import type { Lab } from '../../lab/lab.ts';
import type { ProxySettings, ProxyVariant } from '../../lab/proxies/contract.ts';

export const NODE = 'node1';
export const NODE_INDEX = 1;

/** A proxy that was just started on the node, without waiting for it. */
export interface ProxyProcess {
  readonly daemon: Daemon;
  readonly variant: ProxyVariant;
  /** On the monotonic clock. */
  readonly startedAtMs: number;
  readonly statusSocket: string;
}

export async function startOn(
  lab: Lab,
  variant: ProxyVariant,
  settings: ProxySettings = {},
): Promise<ProxyProcess> {
  const folder = join(lab.folder, 'proxies', variant.name);
  await mkdir(folder, { recursive: true });
  const { credentials } = lab;
  const sockets = lab.socketPlace(NODE_INDEX);
  const place = { nodeName: NODE, credentials, folder, settings, sockets };
  const { argv, env } = await variant.prepare(place);
  const startedAtMs = performance.now();
  const daemon = startDaemon({
    name: `${variant.name} on ${NODE}`,
    namespacePath: lab.namespacePath(NODE),
    argv,
    env,
    logFile: join(lab.folder, 'logs', `${variant.name}.log`),
  });
  return { daemon, variant, startedAtMs, statusSocket: join(folder, 'run', 'status.sock') };
}
