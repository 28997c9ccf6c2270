import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject, Service } from '../../lab/api/objects.ts';
import { paths } from '../../lab/api/objects.ts';
import { abortable } from '../../lab/host/interruption.ts';
import { until } from '../../lab/host/until.ts';
import { nodeAddress, nodeName } from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import type { RealCluster } from '../../lab/real/cluster.ts';
import { provideImage } from '../../lab/real/images/archive.ts';
import type { Kubectl } from './kubectl.ts';
import { type Bucket, parseBuckets } from './tally.ts';

const IMAGE = 'fairlead.test/swap:lab';
const NAMESPACE = 'default';
const SERVER = 'swap-server';
const CLIENT = 'swap-client';
const PORT = 80;
const SERVER_PORT = 8080;
const NODE_PORT = 30_080;
const READY_DEADLINE_MS = 60_000;
/** Until the client has printed the last attempt that it made before: see pods/client.ts. */
const PRINTED_AFTER_MS = 6_000;

/** Node, and the two small programs that run in pods. */
export async function provideLoadArchive(): Promise<string> {
  const folder = join(import.meta.dirname, 'pods');
  return await provideImage({
    names: [IMAGE],
    programs: [process.execPath],
    files: {
      '/pods/client.ts': join(folder, 'client.ts'),
      '/pods/server.ts': join(folder, 'server.ts'),
    },
    entrypoint: [process.execPath],
  });
}

export interface LoadOn {
  readonly cluster: RealCluster;
  readonly kubectl: Kubectl;
  readonly perSecond: number;
  readonly signal: AbortSignal;
}

/** A server on each node behind one Service, and on the first node a client of it. */
export async function startLoad(on: LoadOn): Promise<void> {
  const { cluster, signal } = on;
  await cluster.api.create(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`, serverObject());
  const service = await cluster.api.create<Service>(paths.services(NAMESPACE), serviceObject());
  await on.kubectl(['rollout', 'status', `daemonset/${SERVER}`, '--timeout=60s']);
  const nodes = nodeIndexes(cluster).map((index) => `${nodeAddress(index).ipv4}:${NODE_PORT}`);
  const targets = [`ClusterIP=${service.spec.clusterIP}:${PORT}`, `NodePort=${nodes.join(',')}`];
  const args = [String(on.perSecond), ...targets];
  await cluster.api.create<KubeObject>(paths.pods(NAMESPACE), clientObject(args));
  const answered = async (): Promise<boolean> =>
    (await readLoad(on.kubectl)).some((bucket) => bucket.answered > 0);
  const wait = { what: 'the client in the pod to print', deadlineMs: READY_DEADLINE_MS, signal };
  await on.kubectl(['wait', `pod/${CLIENT}`, '--for=condition=Ready', '--timeout=60s']);
  await until(answered, { ...wait, everyMs: 500 });
}

/** Everything that the client has tried until now. */
export async function finishLoad({ kubectl, signal }: LoadOn): Promise<Bucket[]> {
  await abortable(delay(PRINTED_AFTER_MS), signal);
  return await readLoad(kubectl);
}

async function readLoad(kubectl: Kubectl): Promise<Bucket[]> {
  return parseBuckets(await kubectl(['logs', CLIENT]));
}

function serverObject(): object {
  const labels = { app: SERVER };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: SERVER },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              ...container(['/pods/server.ts']),
              readinessProbe: { tcpSocket: { port: SERVER_PORT }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}

function serviceObject(): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVER },
    spec: {
      type: 'NodePort',
      selector: { app: SERVER },
      ports: [{ port: PORT, targetPort: SERVER_PORT, nodePort: NODE_PORT }],
    },
  };
}

function clientObject(args: readonly string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: CLIENT },
    spec: {
      nodeName: nodeName(1),
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [container(['/pods/client.ts', ...args])],
    },
  };
}

/** With a CPU share: the network path is measured, not the wait for a CPU. */
function container(args: readonly string[]): object {
  const resources = { requests: { cpu: '500m' } };
  return { name: 'main', image: IMAGE, imagePullPolicy: 'Never', args, resources };
}
