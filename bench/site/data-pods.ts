import { join } from 'node:path';
import { paths } from '../../lab/api/objects.ts';
import { setSysctls } from '../../lab/host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../../lab/host/processes.ts';
import { until } from '../../lab/host/until.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { ask, type Client, onCpu } from '../data/ask.ts';
import { lastCpu, packetThread } from '../data/one-cpu.ts';
import { CLUSTER_IPS, NAMESPACE, readyEndpoint, sliceLabels } from './names.ts';
import { runPod } from './run-pod.ts';

const NAME = 'zz-data';
const ECHO = { target: 9000, service: 80 } as const;
const SINK = { target: 9001, service: 81 } as const;
const READY_DEADLINE_MS = 10_000;

/** Where something listens, directly and as a Service. */
export interface Way {
  readonly direct: string;
  readonly service: string;
}

const CLIENT_NODE = 1;
const SERVER_NODE = 2;

/**
 * A client pod on the node with the proxy, a server pod on the node without one: every packet
 * crosses the rules that are measured, once, and no others. Both run on one CPU, with the kernel's
 * work for them: waking another CPU would take longer than what is measured.
 */
export class DataPods implements Client {
  readonly clientPath: string;
  readonly cgroupPath: string | undefined;
  readonly cpu: number;
  readonly helpers: readonly number[];
  readonly echo: Way;
  readonly sink: Way;
  readonly program: string;

  private constructor(of: Parts) {
    this.clientPath = of.client.namespacePath;
    this.cgroupPath = of.cgroupPath;
    this.cpu = of.cpu;
    this.helpers = of.helpers;
    this.program = of.program;
    const way = (port: typeof ECHO | typeof SINK): Way => ({
      direct: `${of.served.address.ipv4}:${port.target}`,
      service: `${CLUSTER_IPS.data}:${port.service}`,
    });
    this.echo = way(ECHO);
    this.sink = way(SINK);
  }

  static async create(lab: Lab, program: string): Promise<DataPods> {
    const client = await runPod(lab, { name: 'client', nodeIndex: CLIENT_NODE });
    const served = await runPod(lab, { name: 'server', nodeIndex: SERVER_NODE });
    const cpu = await lastCpu();
    // A client that is done with a port leaves it to the next; still there should be many.
    await setSysctls(client.namespacePath, ['net.ipv4.ip_local_port_range=2048 65000']);
    await createObjects(lab, served);
    const server = startDaemon({
      name: 'bench server',
      namespacePath: served.namespacePath,
      argv: onCpu(cpu, [
        program,
        'serve',
        `--echo-port=${ECHO.target}`,
        `--sink-port=${SINK.target}`,
      ]),
      logFile: join(lab.folder, 'logs', 'bench-server.log'),
    });
    const helpers = [server.pid, ...(await packetThread(cpu))];
    const cgroupPath = lab.socketGroup(CLIENT_NODE);
    const pods = new DataPods({ client, served, cgroupPath, cpu, helpers, program });
    await untilServing(pods, server);
    return pods;
  }
}

interface Parts extends Omit<Client, 'clientPath'> {
  readonly client: Pod;
  readonly served: Pod;
}

async function untilServing(pods: DataPods, server: Daemon): Promise<void> {
  const to = pods.echo.direct;
  const once = { mode: 'connect', to, beside: to, pairs: 1, sliceMs: 1, workers: 1 } as const;
  await until(
    async () => {
      await assertRunning(server);
      return await ask(pods, once).then(
        () => true,
        () => false,
      );
    },
    { what: 'the server of the data path', deadlineMs: READY_DEADLINE_MS },
  );
}

async function createObjects(lab: Lab, served: Pod): Promise<void> {
  const ports = [
    { name: 'echo', protocol: 'TCP', ...ECHO },
    { name: 'sink', protocol: 'TCP', ...SINK },
    { name: 'datagram', protocol: 'UDP', ...ECHO },
  ];
  await lab.api.create(paths.services(NAMESPACE), {
    metadata: { name: NAME },
    spec: {
      clusterIP: CLUSTER_IPS.data,
      ports: ports.map(({ name, protocol, service, target }) => ({
        name,
        protocol,
        port: service,
        targetPort: target,
      })),
    },
  });
  await lab.api.create(paths.slices(NAMESPACE), {
    metadata: { name: NAME, labels: sliceLabels(NAME) },
    addressType: 'IPv4',
    endpoints: [readyEndpoint(served.address.ipv4, 'node2')],
    ports: ports.map(({ name, protocol, target }) => ({ name, protocol, port: target })),
  });
}
