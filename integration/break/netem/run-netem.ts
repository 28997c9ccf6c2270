import type { Service } from '../../../lab/api/objects.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { FAMILIES, type Family, nodeAddress } from '../../../lab/network/plan.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { POD_PORT, Rollout, SERVICE_PORT } from './rollout.ts';
import { useWay, type Way, type WayCount } from './way.ts';

const READY_DEADLINE_MS = 60_000;
/** Both nodes: what crosses from one to the other meets it twice, as do its answers. */
const NODES = ['node1', 'node2'];

export interface NetemRun {
  readonly variant: ProxyVariant;
  readonly delayMs: number;
  readonly lossPercent: number;
  /** Pods that are replaced. */
  readonly rounds: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface NetemResult {
  readonly proxy: string;
  readonly direct: WayCount;
  readonly through: readonly WayCount[];
}

/** Connections during a rollout on a bad network: to the pods themselves, and through the proxy. */
export async function runNetem(run: NetemRun): Promise<NetemResult> {
  const { variant, progress, signal } = run;
  const { iptables } = variant;
  await using lab = await startLab({ nodeCount: 2, iptables, progress, signal });
  await progress.step(`${variant.name} on each node`, () => lab.startProxies(variant));
  const rollout = new Rollout(lab);
  const service = await rollout.start();
  const ways = await waysOf(lab, rollout, service);
  await progress.step('every way leads to a pod', () => untilAnswered(ways));
  for (const node of NODES) await spoil(lab.namespacePath(node), run);
  const rolling = new AbortController();
  const counts = ways.map((way) => useWay(way, AbortSignal.any([rolling.signal, signal])));
  try {
    for (let round = 1; round <= run.rounds; round++) {
      await progress.step(`pod ${round} of ${run.rounds} replaced`, () => rollout.replaceOldest());
    }
  } finally {
    rolling.abort();
  }
  const [direct, ...through] = await Promise.all(counts);
  if (direct === undefined) throw new TypeError('no way was used');
  return { proxy: variant.name, direct, through };
}

/** The direct one first. Families take turns. */
async function waysOf(lab: Lab, rollout: Rollout, service: Service): Promise<Way[]> {
  const asker = await lab.pods.run({
    namespace: 'default',
    name: 'asker',
    nodeIndex: 1,
    labels: {},
    ports: [],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
  const inPod = { namespace: asker.namespacePath, group: lab.socketGroup(1) };
  const outside = { namespace: lab.namespacePath('client') };
  const nodePort = service.spec.ports?.[0]?.nodePort ?? 0;
  const clusterIp = (family: Family): string =>
    service.spec.clusterIPs?.find((ip) => ip.includes(':') === (family === 'ipv6')) ?? '';
  return [
    way('pods themselves', inPod, (family, turn) => ({
      address: rollout.pod(turn).address[family],
      port: POD_PORT,
    })),
    way('ClusterIP', inPod, (family) => ({ address: clusterIp(family), port: SERVICE_PORT })),
    way('NodePort', outside, (family) => ({ address: nodeAddress(1)[family], port: nodePort })),
  ];
}

function way(
  name: string,
  origin: Way['origin'],
  to: (family: Family, turn: number) => ReturnType<Way['next']>,
): Way {
  let turn = 0;
  return {
    name,
    origin,
    next: () => to(FAMILIES[++turn % FAMILIES.length] ?? 'ipv4', turn >> 1),
  };
}

async function untilAnswered(ways: readonly Way[]): Promise<void> {
  for (const { name, origin, next } of ways) {
    for (const _ of FAMILIES) {
      const to = { ...next(), path: '/hostname', deadlineMs: 1_000 };
      const answers = (): Promise<boolean> =>
        httpGet(origin, to).then(
          () => true,
          () => false,
        );
      await until(answers, { what: `an answer by ${name}`, deadlineMs: READY_DEADLINE_MS });
    }
  }
}

/** Packets that leave the node by its uplink are late, and some are lost. */
async function spoil(namespacePath: string, of: NetemRun): Promise<void> {
  const netem = ['delay', `${of.delayMs}ms`, 'loss', `${of.lossPercent}%`];
  const argv = ['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'netem', ...netem] as const;
  const { exitCode, stderr } = await tryRun(enterNamespace(namespacePath, [...argv]));
  if (exitCode === 0) return;
  throw new LabError('LAB_TOOL_MISSING', `cannot delay and lose packets: ${stderr.trim()}`, {
    next: 'run it in a kernel that has netem: --kernel uml',
  });
}
