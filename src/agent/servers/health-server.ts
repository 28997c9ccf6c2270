import { FAMILIES } from '../../forwarding/model.ts';
import { type Conditions, healthz, livez, readyz, type Verdict } from '../conditions.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { goTime } from './go-time.ts';
import { openHttpServer } from './http.ts';
import { keepServing, retryLikeKubeProxy } from './keep-serving.ts';
import type { OpenServer } from './open-server.ts';
import { type Handler, jsonReply, routes } from './reply.ts';
import type { ServerProblemListener } from './server-error.ts';

export type Probe = 'healthz' | 'livez' | 'readyz';

export interface HealthServerOptions {
  readonly listen: { readonly ip: string; readonly port: number };
  readonly endsWhenServerFails: boolean;
  readonly budget: ConnectionBudget;
  readonly conditions: () => Conditions;
  readonly onProblem: ServerProblemListener;
  /** Called for each response, for metrics. */
  readonly onAnswer?: (probe: Probe, status: number) => void;
  readonly onOpen?: (server: OpenServer) => void;
  readonly nowMs?: () => number;
}

const OK = 200;
const UNAVAILABLE = 503;
const PROBES: readonly Probe[] = ['healthz', 'livez', 'readyz'];

/**
 * The health server for load balancers and the kubelet, on port 10256. Response bodies are those of
 * kube-proxy, with `failing` added when unhealthy. Resolves when the signal is aborted; rejects
 * only when it cannot listen and bindAddressHardFail is set.
 */
export async function runHealthServer(
  options: HealthServerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { listen, budget, onProblem, onOpen } = options;
  const handler = routes(new Map(PROBES.map((probe) => [`/${probe}`, answerTo(probe, options)])));
  await keepServing(
    {
      where: `${listen.ip}:${listen.port} (health)`,
      open: () => openHttpServer(listen, { handler, budget, onProblem }),
      onProblem,
      ...(onOpen === undefined ? {} : { onOpen }),
      retryAfterMs: retryLikeKubeProxy(options.endsWhenServerFails),
    },
    signal,
  );
}

const VERDICTS: Readonly<Record<Probe, (conditions: Conditions) => Verdict>> = {
  healthz,
  livez,
  readyz,
};

function answerTo(probe: Probe, options: HealthServerOptions): Handler {
  return () => {
    const conditions = options.conditions();
    const verdict = VERDICTS[probe](conditions);
    const status = verdict.ok ? OK : UNAVAILABLE;
    options.onAnswer?.(probe, status);
    const nowMs = options.nowMs?.() ?? Date.now();
    return jsonReply(status, healthBody({ probe, verdict, conditions, nowMs }));
  };
}

interface Asked {
  readonly probe: Probe;
  readonly verdict: Verdict;
  readonly conditions: Conditions;
  readonly nowMs: number;
}

function healthBody({ probe, verdict, conditions, nowMs }: Asked): string {
  const { timely, nodeEligible } = conditions;
  const synced = FAMILIES.flatMap((family) => {
    const { lastSyncedAtMs, isTrue } = timely[family];
    return lastSyncedAtMs === undefined ? [] : [{ family, lastSyncedAtMs, isTrue }];
  });
  const status = synced.map(({ family, lastSyncedAtMs, isTrue }) => {
    return [family, { lastUpdated: goTime(lastSyncedAtMs), healthy: isTrue }];
  });
  const newestAtMs = Math.max(0, ...synced.map(({ lastSyncedAtMs }) => lastSyncedAtMs));
  return JSON.stringify({
    // Older clients read it as the time of the last check: keep it recent while healthy.
    lastUpdated: goTime(verdict.ok ? nowMs : newestAtMs),
    currentTime: goTime(nowMs),
    ...(probe === 'healthz' ? { nodeEligible: nodeEligible.isTrue } : {}),
    // Removal of the node does not make the proxy unhealthy.
    healthy: probe === 'healthz' ? readyz(conditions).ok : verdict.ok,
    ...(status.length === 0 ? {} : { status: Object.fromEntries(status) }),
    ...(verdict.ok ? {} : { failing: verdict.failing }),
  });
}
