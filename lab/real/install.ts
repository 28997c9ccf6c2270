import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { KubeObject } from '../api/objects.ts';
import type { Credentials } from '../control-plane/credentials.ts';
import { enterNamespace, namespacePath } from '../host/namespaces.ts';
import { run } from '../host/run.ts';
import { until } from '../host/until.ts';
import { nodeName } from '../network/plan.ts';
import { nodeIndexes } from '../network/topology.ts';
import type { PartsAndTools } from '../parts/build.ts';
import { hasSyncedFamilies, METRICS_PORT } from '../proxies/kube-proxy-configuration.ts';
import { httpGet } from '../servers/http-get.ts';
import { dnsObjects } from './dns.ts';
import { retellRealZone } from './nodes/register.ts';
import type { RealProxy } from './proxies/contract.ts';

const READY_DEADLINE_MS = 120_000;
const EVERY_MS = 200;

/** The cluster that something is installed into. */
export interface Target {
  readonly name: string;
  readonly nodeCount: number;
  readonly folder: string;
  readonly parts: PartsAndTools;
  readonly credentials: Credentials;
  readonly api: ApiClient;
  /** Network namespace of the control plane and its clients. */
  readonly fabricPath: string;
}

/** Resolves when the proxy has written both families on every node. */
export async function installProxy(
  cluster: Target,
  proxy: RealProxy,
  signal: AbortSignal | undefined,
): Promise<void> {
  await apply(cluster, await proxy.writeObjects(cluster.folder));
  await Promise.all(
    nodeIndexes(cluster).map(async (index) => {
      const namespace = namespacePath({ lab: cluster.name, role: nodeName(index) });
      const to = { address: '127.0.0.1', port: METRICS_PORT, path: '/metrics' };
      await until(
        // Nobody listens until the pod has started.
        async () => {
          const answer = await httpGet({ namespace }, to).catch(() => undefined);
          return hasSyncedFamilies(answer?.body ?? '');
        },
        {
          what: `${proxy.name} to sync on ${nodeName(index)}`,
          deadlineMs: READY_DEADLINE_MS,
          everyMs: EVERY_MS,
          signal,
        },
      );
      if (proxy.mayMissZoneAtStart) await retellRealZone(cluster.api, index);
    }),
  );
}

interface Deployment extends KubeObject {
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly readyReplicas?: number };
}

/** Resolves when DNS is ready. It asks the API server at its Service address, through the proxy. */
export async function installDns(cluster: Target, signal: AbortSignal | undefined): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: dnsObjects() };
  const file = join(cluster.folder, 'dns.json');
  await writeFile(file, JSON.stringify(list, null, 2));
  await apply(cluster, ['-f', file]);
  await until(
    async () => {
      const path = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
      const { spec, status } = await cluster.api.get<Deployment>(path);
      return status?.readyReplicas === spec.replicas;
    },
    { what: 'CoreDNS to be ready', deadlineMs: READY_DEADLINE_MS, everyMs: EVERY_MS, signal },
  );
}

async function apply(cluster: Target, what: readonly string[]): Promise<void> {
  const kubeconfig = `--kubeconfig=${cluster.credentials.adminKubeconfig}`;
  const kubectl = [cluster.parts.kubectl, kubeconfig, 'apply', ...what] as const;
  await run(enterNamespace(cluster.fabricPath, kubectl));
}
