import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseProxies } from '../../../bench/contestants.ts';
import type { Waiting } from '../../../bench/control/asker.ts';
import { untilStarted } from '../../../bench/control/cold.ts';
import { type ProxyProcess, startOn } from '../../../bench/control/proxy-process.ts';
import { SourcePorts } from '../../../bench/control/source-ports.ts';
import { KernelWatch } from '../../../bench/shapes/kernel-watch.ts';
import { paths } from '../../../lab/api/objects.ts';
import { API_PORT } from '../../../lab/control-plane/credentials.ts';
import { LabError } from '../../../lab/host/errors.ts';
import { ipBatch, namespaceName, setSysctls } from '../../../lab/host/namespaces.ts';
import { run } from '../../../lab/host/run.ts';
import type { Destination } from '../../../lab/host/sockets.ts';
import type { Pod } from '../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../lab/lab.ts';
import { FABRIC } from '../../../lab/network/plan.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { CLIENT_CIDR, FLOOD_CIDR, HOSTILE, NODE, NODE_INDEX, VICTIM } from './names.ts';
import { admitHostileUser } from './rbac.ts';
import { createService, runPod } from './victim/pods.ts';

const START_DEADLINE_MS = 60_000;
/** The control plane and the hostile user are not on the node in a cluster: there they take no CPU of it. */
const ELSEWHERE = '10';

/** A node with a proxy, the victim's Services behind it, and a user that is let into one namespace. */
export interface NeighbourScene {
  readonly lab: Lab;
  readonly proxy: ProxyProcess;
  readonly configPath: string;
  readonly runFolder: string;
  readonly hostileToken: string;
  readonly hostilePod: Pod;
  /** Asks from inside: has an address for each client of the sticky Service. */
  readonly asker: Pod;
  readonly moving: { readonly pods: readonly [Pod, Pod]; readonly waiting: Waiting };
  readonly stable: Destination;
  readonly sticky: Destination;
}

export interface SceneOptions {
  readonly lab: Lab;
  readonly proxyName: string;
  readonly program: readonly string[];
  /** A command that starts the proxy, such as prlimit(1); by default none. */
  readonly under?: readonly [string, ...string[]];
  readonly signal: AbortSignal;
}

export const MOVING = 'moving';

export async function prepareScene(options: SceneOptions): Promise<NeighbourScene> {
  const { lab, signal } = options;
  for (const { pid } of lab.daemons) await run(['renice', '-n', ELSEWHERE, '-p', String(pid)]);
  const hostileToken = await admitHostileUser(lab.api);
  await lab.api.create(paths.namespaces, { metadata: { name: VICTIM } });
  const [one, other, left, middle, right] = await Promise.all(
    ['one', 'other', 'left', 'middle', 'right'].map((name) => runPod(lab, VICTIM, name)),
  );
  const asker = await runPod(lab, VICTIM, 'asker');
  const hostilePod = await runPod(lab, HOSTILE, 'flooder');
  if (!one || !other || !left || !middle || !right)
    throw new Error('the lab started fewer pods than requested');
  await ownAddresses(lab, { pod: asker, cidr: CLIENT_CIDR });
  await ownAddresses(lab, { pod: hostilePod, cidr: FLOOD_CIDR });
  const to = await createService(lab, { name: MOVING, pods: [one] });
  const stable = await createService(lab, { name: 'stable', pods: [left, right] });
  const pods = [left, middle, right];
  const sticky = await createService(lab, { name: 'sticky', pods, isSticky: true });
  const namespace = lab.namespacePath(NODE);
  const origin = { namespace, group: lab.socketGroup(NODE_INDEX) };
  const waiting = { origin, to, ports: new SourcePorts(), deadlineMs: START_DEADLINE_MS, signal };
  const [contestant] = parseProxies(options.proxyName);
  if (contestant === undefined) throw new Error('no proxy is named');
  const variant = contestant.variant(options.program);
  const proxy = await startOn(lab, options.under ? startedBy(variant, options.under) : variant);
  if ((await untilStarted(proxy, waiting)) === undefined) {
    throw new LabError('LAB_DEADLINE', `${options.proxyName} does not answer for its Services`, {
      next: `read ${proxy.daemon.logFile}`,
    });
  }
  // Flows of datagrams without an answer would fill the table of the machine: then none could connect.
  await setSysctls(namespace, ['net.netfilter.nf_conntrack_udp_timeout=5']);
  return {
    lab,
    proxy,
    configPath: join(lab.folder, 'proxies', proxy.variant.name, 'fairlead.json'),
    runFolder: join(lab.folder, 'proxies', proxy.variant.name, 'run'),
    hostileToken,
    hostilePod,
    asker,
    moving: { pods: [one, other], waiting },
    stable,
    sticky,
  };
}

function startedBy(variant: ProxyVariant, wrapper: readonly [string, ...string[]]): ProxyVariant {
  return {
    ...variant,
    async prepare(place) {
      const command = await variant.prepare(place);
      return { ...command, argv: [...wrapper, ...command.argv] };
    },
  };
}

/** Listens to the kernel of the node, and to the API server as the proxy does. */
export async function watchNode(scene: NeighbourScene, tool: string): Promise<KernelWatch> {
  const { lab } = scene;
  const tokenFile = join(lab.folder, 'watcher-token');
  const rows = (await readFile(lab.credentials.tokenFile, 'utf8')).split('\n');
  const proxyUser = rows.find((row) => row.includes('system:kube-proxy')) ?? '';
  await writeFile(tokenFile, proxyUser.split(',')[0] ?? '', { mode: 0o600 });
  return new KernelWatch({
    tool,
    namespacePath: lab.namespacePath(NODE),
    api: {
      server: `https://${FABRIC.ipv4}:${API_PORT}`,
      tokenFile,
      authorityFile: lab.credentials.certificateAuthorityFile,
    },
  });
}

/** The pod may send from any of these addresses, and is sent what goes to them. */
async function ownAddresses(lab: Lab, of: { pod: Pod; cidr: string }): Promise<void> {
  const { pod, cidr } = of;
  const role = `${pod.spec.namespace}-${pod.spec.name}`;
  await ipBatch([`route add local ${cidr} dev lo`], namespaceName({ lab: lab.name, role }));
  await ipBatch(
    [`route add ${cidr} via ${pod.address.ipv4}`],
    namespaceName({ lab: lab.name, role: NODE }),
  );
}
