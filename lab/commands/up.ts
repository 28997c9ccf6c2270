import type { Service } from '../api/objects.ts';
import { abortable } from '../host/interruption.ts';
import { assertKernelHas } from '../host/kernel-parts.ts';
import type { Daemon } from '../host/processes.ts';
import type { Progress } from '../host/progress.ts';
import { formatTable } from '../host/table.ts';
import { type Lab, startLab } from '../lab.ts';
import { nodeAddress, nodeName, outsiderAddress, podCidr, zoneOf } from '../network/plan.ts';
import { nodeIndexes, type PodNetwork } from '../network/topology.ts';
import { type ApiVersion, describeApiVersion } from '../parts/api-version.ts';
import { findProxy } from '../proxies/registry.ts';
import { deployDemo, untilReachable } from './demo.ts';
import { commandsFor } from './hints.ts';
import { describeOutside, putOutside } from './outside.ts';
import { writeLabRecord } from './running-lab.ts';

export interface UpOptions {
  readonly name: string;
  readonly nodes?: number;
  readonly podNetwork: PodNetwork;
  readonly api: ApiVersion;
  readonly network: string;
  readonly proxy: string;
  /** Name of the variant of Fairlead on the machine outside; undefined: none. */
  readonly outside?: string;
  readonly services: number;
  readonly endpoints: number;
}

export interface UpContext {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Starts a lab and leaves it running; removes it again if anything goes wrong on the way. */
export async function up(options: UpOptions, context: UpContext): Promise<string> {
  const startedAt = performance.now();
  const variant = options.proxy === 'none' ? undefined : findProxy(options.proxy);
  if (variant) assertKernelHas(variant.kernelParts ?? [], variant.name);
  const lab = await startLab({
    name: options.name,
    nodeCount: options.nodes ?? 2,
    podNetwork: options.podNetwork,
    apiVersion: options.api,
    network: options.network,
    iptables: variant?.iptables,
    load:
      options.services > 0
        ? { services: options.services, endpointsPerService: options.endpoints }
        : undefined,
    ...context,
  });
  try {
    const { service, outside } = await abortable(furnish(lab, options, context), context.signal);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const { podNetwork, network } = options;
    await writeLabRecord(lab.folder, { nodeCount: lab.nodeCount, podNetwork, network });
    await lab.detach();
    if (outside) return describeOutside({ ...options, ...outside, lab, service, seconds });
    return describe({ lab, service, seconds, ...options });
  } catch (error) {
    await lab[Symbol.asyncDispose]();
    throw error;
  }
}

interface Furniture {
  readonly service: Service;
  /** Fairlead on the machine outside, where it was asked for, and its variant. */
  readonly outside: { readonly agent: Daemon; readonly outside: string } | undefined;
}

async function furnish(lab: Lab, options: UpOptions, context: UpContext): Promise<Furniture> {
  const { progress } = context;
  const service = await progress.step('demo: a pod on each node, one Service', () =>
    deployDemo(lab),
  );
  if (options.proxy !== 'none') await startOnNodes(lab, service, { ...options, ...context });
  const { outside } = options;
  if (outside === undefined) return { service, outside };
  const agent = await putOutside(lab, { service, outside, progress });
  return { service, outside: { agent, outside } };
}

async function startOnNodes(
  lab: Lab,
  service: Service,
  { proxy, progress }: Pick<UpOptions & UpContext, 'proxy' | 'progress'>,
): Promise<void> {
  const variant = findProxy(proxy);
  const hosts = nodeIndexes(lab).map(nodeName);
  await progress.step(`${variant.name} on each node`, () => lab.startProxies(variant));
  await progress.step('the Service answers on every node', () =>
    untilReachable({ lab, service, hosts }),
  );
}

interface Description {
  readonly lab: Lab;
  readonly service: Service;
  readonly seconds: string;
  readonly proxy: string;
  readonly api: ApiVersion;
}

function describe({ lab, service, seconds, proxy, api }: Description): string {
  const hosts = [
    ['HOST', 'IPV4', 'IPV6', 'WHAT'],
    ...nodeIndexes(lab).map((index) => {
      const address = nodeAddress(index);
      const pods = `${zoneOf(index)}, pods ${podCidr(index).ipv4}, proxy: ${proxy}`;
      return [nodeName(index), address.ipv4, address.ipv6, pods];
    }),
    hostRow('client', 'outside the cluster; 172.30.2.N asks through nodeN'),
    hostRow('machine', 'outside the cluster, with routes to the pods'),
  ];
  const command = commandsFor(lab.name);
  const clusterIp = service.spec.clusterIPs?.[0] ?? '';
  const nodePort = service.spec.ports?.[0]?.nodePort ?? 0;
  return [
    `Lab '${lab.name}' is up after ${seconds} s: Kubernetes ${describeApiVersion(api)}, logs in ${lab.folder}/logs`,
    '',
    formatTable(hosts),
    '',
    `Service default/web: cluster IPs ${service.spec.clusterIPs?.join(' and ')}, node port ${nodePort}`,
    '',
    'Things to try:',
    `  ${command('exec', `node1 -- curl -s http://${clusterIp}/hostname`)}`,
    `  ${command('exec', `client -- curl -s http://${nodeAddress(1).ipv4}:${nodePort}/clientip`)}`,
    ...(proxy.startsWith('fairlead') ? fairleadHints(command) : []),
    `  ${command('scale', 'web 3')}`,
    `  ${command('kubectl', 'get nodes,services,endpointslices -o wide')}`,
    '',
    `Take it down: ${command('down')}`,
  ].join('\n');
}

function fairleadHints(command: ReturnType<typeof commandsFor>): string[] {
  return [
    `  ${command('fairlead', 'node1 explain default/web --from host')}`,
    `  ${command('fairlead', 'node1 status')}`,
    `  ${command('view', 'node1')}`,
  ];
}

function hostRow(outsider: 'client' | 'machine', what: string): string[] {
  const address = outsiderAddress(outsider);
  return [outsider, address.ipv4, address.ipv6, what];
}
