import type { Service } from '../api/objects.ts';
import type { Daemon } from '../host/processes.ts';
import type { Progress } from '../host/progress.ts';
import { formatTable } from '../host/table.ts';
import type { Lab } from '../lab.ts';
import { MACHINE, nodeAddress, nodeName, outsiderAddress, podCidr } from '../network/plan.ts';
import { nodeIndexes } from '../network/topology.ts';
import { BRIDGE, CONTAINER, CONTAINER_ADDRESS, surroundMachine } from '../outside/hosts.ts';
import { startOutside } from '../outside/start.ts';
import { type ApiVersion, describeApiVersion } from '../parts/api-version.ts';
import { findProxy } from '../proxies/registry.ts';
import { untilReachable } from './demo.ts';
import { commandsFor } from './hints.ts';

/** Puts Fairlead on the machine beside the cluster; resolves when the Service answers there. */
export async function putOutside(
  lab: Lab,
  of: { service: Service; outside: string; progress: Progress },
): Promise<Daemon> {
  const { service, progress } = of;
  const variant = findProxy(of.outside);
  await progress.step(`a container on ${MACHINE}, a neighbour that routes through it`, () =>
    surroundMachine(lab),
  );
  return await progress.step(`${variant.name} on ${MACHINE}, which answers there`, async () => {
    const agent = await startOutside(lab, { variant });
    await untilReachable({ lab, service, hosts: [MACHINE] });
    return agent;
  });
}

interface Description {
  readonly lab: Lab;
  readonly service: Service;
  readonly seconds: string;
  /** Fairlead on the machine. */
  readonly agent: Daemon;
  /** The name of its variant. */
  readonly outside: string;
  /** The proxy of the nodes. */
  readonly proxy: string;
  readonly api: ApiVersion;
}

/** What there is and what to try, in 80 columns. */
export function describeOutside(of: Description): string {
  const { lab, service, agent } = of;
  const command = commandsFor(lab.name);
  const [ipv4 = '', ipv6 = ''] = service.spec.clusterIPs ?? [];
  const nodePort = service.spec.ports?.[0]?.nodePort ?? 0;
  const ask = (host: string, to: string): string =>
    `  ${command('exec', `${host} -- curl -gsSm2 ${to}/hostname`)}`;
  return [
    `Lab '${lab.name}' is up after ${of.seconds} s: Kubernetes ${describeApiVersion(of.api)}, Fairlead outside`,
    '',
    formatTable(hostRows(of)),
    '',
    `Service default/web: ${ipv4} and ${ipv6}, node port ${nodePort}`,
    '',
    'Answered, on the machine only:',
    ask(MACHINE, ipv4),
    ask(MACHINE, `'[${ipv6}]'`),
    'Not served: other hosts get no answer through the machine, and its node port is closed:',
    ask('client', ipv4),
    ask(CONTAINER, ipv4),
    ask('client', `${outsiderAddress(MACHINE).ipv4}:${nodePort}`),
    'What Fairlead says:',
    `  ${command('fairlead', `${MACHINE} status`)}`,
    `  ${command('fairlead', `${MACHINE} services`)}`,
    `  ${command('fairlead', `${MACHINE} outside check`)}`,
    'Without Fairlead, silent on the machine too:',
    `  kill ${agent.pid} && ${command('fairlead', `${MACHINE} cleanup`)}`,
    '',
    `Logs: ${lab.folder}/logs`,
    `Take it down: ${command('down')}`,
  ].join('\n');
}

function hostRows({ lab, outside, proxy }: Description): string[][] {
  return [
    ['HOST', 'IPV4', 'WHAT'],
    ...nodeIndexes(lab).map((index) => [
      nodeName(index),
      nodeAddress(index).ipv4,
      `pods ${podCidr(index).ipv4}, proxy: ${proxy}`,
    ]),
    [MACHINE, outsiderAddress(MACHINE).ipv4, `no node, reaches the pods, proxy: ${outside}`],
    [CONTAINER, CONTAINER_ADDRESS.ipv4, `on ${MACHINE}, behind ${BRIDGE}`],
    ['client', outsiderAddress('client').ipv4, `neighbour, routes Services to ${MACHINE}`],
  ];
}
