import { join } from 'node:path';
import { paths } from '../../lab/api/objects.ts';
import { setSysctls } from '../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../lab/host/processes.ts';
import type { Progress } from '../../lab/host/progress.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { clusterIpOf, endpointAddress, type LoadSize } from '../../lab/load/objects.ts';
import { NODE } from '../control/proxy-process.ts';
import {
  CLUSTER_IPS,
  NAMESPACE,
  readyEndpoint,
  SERVE_PORT,
  SERVICE_PORT,
  sliceLabels,
} from '../site/names.ts';
import { runPod } from '../site/run-pod.ts';

const NAME = 'zz-forwarding';
const SERVER_NODE = 'node2';
/** Endpoints of the Service: ports of one server, so that choosing among several is measured too. */
const INSTANCES = 4;
const PORTS_PER_INSTANCE = 10;

/** Ports of the Service, and of the first endpoint; see lab/parts/bench/serve.go. */
const PORTS = {
  echo: { service: 80, target: 9000 },
  sink: { service: 81, target: 9001 },
  source: { service: 82, target: 9002 },
  mute: { service: 83, target: 9003 },
} as const;

export type PortName = keyof typeof PORTS;
const PORT_NAMES = Object.keys(PORTS) as PortName[];

/** Where each port is asked, as `address:port`. */
export type Addresses = Readonly<Record<PortName, string>>;

/** A frontend, and where its connections go. */
export interface Forwarded {
  readonly address: string;
  readonly port: number;
  readonly endpoints: readonly string[];
}

/** A cluster with a client on the node that forwards, and a server on another without a proxy. */
export interface ForwardingSite extends AsyncDisposable {
  readonly lab: Lab;
  readonly size: LoadSize;
  /** Path of the program that serves and loads. */
  readonly program: string;
  readonly clientPath: string;
  readonly nodePath: string;
  readonly server: Daemon;
  readonly direct: Addresses;
  readonly service: Addresses;
  /** Every Service of the cluster that a proxy serves. */
  readonly forwarded: readonly Forwarded[];
}

export interface ForwardingSiteOptions {
  readonly size: LoadSize;
  readonly program: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export async function openForwardingSite(options: ForwardingSiteOptions): Promise<ForwardingSite> {
  const { size, program, progress, signal } = options;
  const lab = await startLab({ nodeCount: 2, load: size, progress, signal });
  try {
    await lab.api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const client = await runPod(lab, { name: 'client', nodeIndex: 1 });
    const served = await runPod(lab, { name: 'server', nodeIndex: 2 });
    await createObjects(lab, served);
    const nodePath = lab.namespacePath(NODE);
    // Ports of ended connections are used again after a second, on the client as on the node. None of
    // the forwarder's, 10240 to 32767: the node would drop answers to one that it has in TIME_WAIT.
    await setSysctls(client.namespacePath, [
      'net.ipv4.ip_local_port_range=2048 65000',
      'net.ipv4.ip_local_reserved_ports=10240-32767',
      'net.ipv4.tcp_tw_reuse=1',
    ]);
    await setSysctls(nodePath, ['net.ipv4.tcp_tw_reuse=1']);
    await forgetEndedConnections(lab);
    const server = startDaemon({
      name: 'forwarding server',
      namespacePath: served.namespacePath,
      argv: [program, 'serve', `--instances=${INSTANCES}`],
      logFile: join(lab.folder, 'logs', 'forwarding-server.log'),
    });
    const serverAddress = served.address.ipv4;
    return {
      lab,
      size,
      program,
      clientPath: client.namespacePath,
      nodePath,
      server,
      direct: addresses((name) => `${serverAddress}:${PORTS[name].target}`),
      service: addresses((name) => `${CLUSTER_IPS.data}:${PORTS[name].service}`),
      forwarded: [...measured(serverAddress), ...loaded(size)],
      [Symbol.asyncDispose]: async () => await lab[Symbol.asyncDispose](),
    };
  } catch (error) {
    await lab[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Conntrack remembers an ended connection for minutes, and with thousands of them a second its table is
 * full within one: then the kernel drops the first packets of new ones, and what is measured is the wait.
 */
async function forgetEndedConnections(lab: Lab): Promise<void> {
  for (const role of [NODE, SERVER_NODE, 'fabric']) {
    await setSysctls(lab.namespacePath(role), [
      'net.netfilter.nf_conntrack_tcp_timeout_time_wait=1',
      'net.netfilter.nf_conntrack_tcp_timeout_close=1',
    ]);
  }
}

export function addresses(of: (name: PortName) => string): Addresses {
  return Object.fromEntries(PORT_NAMES.map((name) => [name, of(name)])) as Record<PortName, string>;
}

function measured(address: string): Forwarded[] {
  return PORT_NAMES.map((name) => ({
    address: CLUSTER_IPS.data,
    port: PORTS[name].service,
    endpoints: instances().map((index) => `${address}:${targetOf(name, index)}`),
  }));
}

/** Their endpoints are addresses without a host: only their number matters. */
function loaded({ services, endpointsPerService }: LoadSize): Forwarded[] {
  return Array.from({ length: services }, (_, index) => ({
    address: clusterIpOf(index),
    port: SERVICE_PORT,
    endpoints: Array.from(
      { length: endpointsPerService },
      (_each, serial) => `${endpointAddress(index * endpointsPerService + serial)}:${SERVE_PORT}`,
    ),
  }));
}

function instances(): number[] {
  return Array.from({ length: INSTANCES }, (_, index) => index);
}

function targetOf(name: PortName, index: number): number {
  return PORTS[name].target + index * PORTS_PER_INSTANCE;
}

/** Target ports belong to a slice, so each endpoint has a slice of its own. */
async function createObjects(lab: Lab, served: Pod): Promise<void> {
  await lab.api.create(paths.services(NAMESPACE), {
    metadata: { name: NAME },
    spec: {
      clusterIP: CLUSTER_IPS.data,
      ports: PORT_NAMES.map((name) => ({
        name,
        protocol: 'TCP',
        port: PORTS[name].service,
        targetPort: PORTS[name].target,
      })),
    },
  });
  for (const index of instances()) {
    await lab.api.create(paths.slices(NAMESPACE), {
      metadata: { name: `${NAME}-${index}`, labels: sliceLabels(NAME) },
      addressType: 'IPv4',
      endpoints: [readyEndpoint(served.address.ipv4, 'node2')],
      ports: PORT_NAMES.map((name) => ({ name, protocol: 'TCP', port: targetOf(name, index) })),
    });
  }
}
