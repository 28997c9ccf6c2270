import { setTimeout as pause } from 'node:timers/promises';
import { METRICS_PORT } from '../../lab/proxies/kube-proxy-configuration.ts';
import { httpGet } from '../../lab/servers/http-get.ts';
import { firstAnswerAtMs, type Waiting } from './asker.ts';
import type { ProxyProcess } from './proxy-process.ts';

const LOOK_EVERY_MS = 50;

export interface Started {
  readonly answeredMs: number;
  readonly programmedMs: number;
}

/** Until the last Service answers and the proxy itself says that it is done; undefined: neither in time. */
export async function untilStarted(
  proxy: ProxyProcess,
  waiting: Waiting,
): Promise<Started | undefined> {
  const [answeredAtMs, programmedAtMs] = await Promise.all([
    firstAnswerAtMs(waiting, () => proxy.daemon.ended() === undefined),
    programmedAtMsOf(proxy, waiting),
  ]);
  if (answeredAtMs === undefined || programmedAtMs === undefined) return undefined;
  return {
    answeredMs: answeredAtMs - proxy.startedAtMs,
    programmedMs: programmedAtMs - proxy.startedAtMs,
  };
}

async function programmedAtMsOf(
  { variant, daemon }: ProxyProcess,
  { origin, deadlineMs, signal }: Waiting,
): Promise<number | undefined> {
  const giveUpAtMs = performance.now() + deadlineMs;
  while (performance.now() < giveUpAtMs && daemon.ended() === undefined) {
    signal.throwIfAborted();
    const isSynced = await variant.synced((port, path) => readText(origin.namespace, port, path));
    if (isSynced) return performance.now();
    await pause(LOOK_EVERY_MS);
  }
  return undefined;
}

/** Before it listens there is no answer, and while it reads thousands of Services it may be late. */
async function readText(
  namespace: string,
  port: number,
  path: string,
): Promise<string | undefined> {
  if (port !== METRICS_PORT) return undefined;
  return await httpGet({ namespace }, { address: '127.0.0.1', port, path }).then(
    ({ body }) => body,
    () => undefined,
  );
}
