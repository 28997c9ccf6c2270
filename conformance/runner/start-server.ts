import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { FAMILIES } from '../../lab/network/plan.ts';
import { type ServedPort, startNetexec } from '../../lab/servers/netexec.ts';
import { type ResolvedTarget, resolveTarget } from '../questions/resolve.ts';
import type { Change } from '../scenario.ts';
import type { World } from '../world.ts';

type Start = Extract<Change, { startServer: string }>;

/**
 * Starts a server at the address of the targets, in both families. The fabric is where the default
 * route of every host leads, so it gets the address first; the machine has its own.
 */
export async function startServer(world: World, start: Start): Promise<void> {
  const { startServer: hostname, on } = start;
  const namespacePath = world.lab.namespacePath(on);
  const stack = new AsyncDisposableStack();
  world.note(hostname, stack);
  for (const family of FAMILIES) {
    const targets = start.at.map((target) => resolveTarget(world, target, family));
    const [address, ...others] = new Set(targets.map((target) => target.address));
    if (address === undefined || others.length > 0) {
      throw new TypeError(`server '${hostname}' of the scenario has not one address`);
    }
    if (on === 'fabric') {
      const change = async (...how: string[]): Promise<void> => {
        await run(enterNamespace(namespacePath, ['ip', 'address', ...how]));
      };
      const nodad = family === 'ipv6' ? ['nodad'] : [];
      await change('add', address, 'dev', 'lo', ...nodad);
      stack.defer(() => change('delete', address, 'dev', 'lo'));
    }
    const ports = targets.map(servedPort);
    stack.use(await startNetexec({ namespacePath, address, hostname, ports }));
  }
}

function servedPort({ port, protocol }: ResolvedTarget): ServedPort {
  if (protocol === 'TCP' || protocol === 'UDP') return { port, protocol };
  throw new TypeError(`no server of a scenario speaks ${protocol}`);
}
