import { join } from 'node:path';
import { paths } from '../../lab/api/objects.ts';
import { setSysctls } from '../../lab/host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../../lab/host/processes.ts';
import { until } from '../../lab/host/until.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { Lab } from '../../lab/lab.ts';
import { ask, type Client } from '../data/ask.ts';
import { CLUSTER_IPS, NAMESPACE, readyEndpoint, sliceLabels } from './names.ts';

const NAME = 'zz-data';
const ECHO = { target: 9000, service: 80 } as const;
const SINK = { target: 9001, service: 81 } as const;
const READY_DEADLINE_MS = 10_000;

/** Where something listens, directly and as a Service. */
export interface Way {
  readonly direct: string;
  readonly service: string;
}

/**
 * A client pod on the node with the proxy, a server pod on the node without one: every packet
 * crosses the rules that are measured, once, and no others.
 */
export class DataPods implements Client {
  readonly clientPath: string;
  readonly server: Daemon;
  readonly echo: Way;
  readonly sink: Way;
  readonly program: string;

  private constructor(of: { client: Pod; served: Pod; server: Daemon; program: string }) {
    this.clientPath = of.client.namespacePath;
    this.server = of.server;
    this.program = of.program;
    const way = (port: typeof ECHO | typeof SINK): Way => ({
      direct: `${of.served.address.ipv4}:${port.target}`,
      service: `${CLUSTER_IPS.data}:${port.service}`,
    });
    this.echo = way(ECHO);
    this.sink = way(SINK);
  }

  static async create(lab: Lab, program: string): Promise<DataPods> {
    const client = await runPod(lab, { name: 'client', nodeIndex: 1 });
    const served = await runPod(lab, { name: 'server', nodeIndex: 2 });
    // A client that is done with a port leaves it to the next; still there should be many.
    await setSysctls(client.namespacePath, ['net.ipv4.ip_local_port_range=2048 65000']);
    await createObjects(lab, served);
    const server = startDaemon({
      name: 'bench server',
      namespacePath: served.namespacePath,
      argv: [program, 'serve', `--echo-port=${ECHO.target}`, `--sink-port=${SINK.target}`],
      logFile: join(lab.folder, 'logs', 'bench-server.log'),
    });
    const pods = new DataPods({ client, served, server, program });
    await until(
      async () => {
        await assertRunning(server);
        const once = { mode: 'connect', durationMs: 1, workers: 1 } as const;
        return await ask(pods, { ...once, to: pods.echo.direct }).then(
          () => true,
          () => false,
        );
      },
      { what: 'the server of the data path', deadlineMs: READY_DEADLINE_MS },
    );
    return pods;
  }
}

async function runPod(lab: Lab, of: { name: string; nodeIndex: number }): Promise<Pod> {
  return await lab.pods.run({
    ...of,
    namespace: NAMESPACE,
    labels: {},
    ports: [],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
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
