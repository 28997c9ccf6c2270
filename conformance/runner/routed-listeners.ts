import { isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { enterNamespace, ipBatch, namespaceName } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { type Destination, dialTcp } from '../../lab/host/sockets.ts';
import { MACHINE, outsiderAddress } from '../../lab/network/plan.ts';
import type { World } from '../world.ts';

const ANSWER_MS = 500;

/**
 * Which of the machine's sockets accept a neighbour. One at an address of an interface does; one at
 * an address that is only a route of the machine is tried, by a neighbour that routes it there.
 */
export async function reachableSockets(
  world: World,
  sockets: readonly string[],
): Promise<string[]> {
  const machine = world.lab.namespacePath(MACHINE);
  const addresses = await run(enterNamespace(machine, ['ip', '-brief', 'address']));
  const reachable: string[] = [];
  for (const socket of sockets) {
    const at = destinationOf(socket);
    const isOnlyRouted = at !== undefined && !addresses.includes(` ${at.address}/`);
    if (!isOnlyRouted || (await acceptsNeighbour(world, at))) reachable.push(socket);
  }
  return reachable;
}

/** Undefined: a wildcard, or no TCP. */
function destinationOf(socket: string): Destination | undefined {
  const [, address, port] = /^tcp \[?([0-9a-f.:]+)\]?:(\d+)$/.exec(socket) ?? [];
  if (address === undefined || ['0.0.0.0', '::'].includes(address)) return undefined;
  return { address, port: Number(port) };
}

async function acceptsNeighbour(world: World, to: Destination): Promise<boolean> {
  const client = namespaceName({ lab: world.lab.name, role: 'client' });
  const via = outsiderAddress(MACHINE)[isIPv6(to.address) ? 'ipv6' : 'ipv4'];
  await ipBatch([`route replace ${to.address} via ${via}`], client);
  const socket = dialTcp({ namespace: world.lab.namespacePath('client') }, to);
  const accepted = new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
  });
  try {
    return await Promise.race([accepted, delay(ANSWER_MS, false)]);
  } finally {
    socket.destroy();
    await ipBatch([`route delete ${to.address} via ${via}`], client);
  }
}
