import { listeningSockets, scanTcpPorts } from '../../lab/host/open-ports.ts';
import { FAMILIES, MACHINE, outsiderAddress } from '../../lab/network/plan.ts';
import type { Step } from '../scenario.ts';
import type { World } from '../world.ts';
import { reachableSockets } from './routed-listeners.ts';

type Scan = Extract<Step, { scan: string }>;

/** What other hosts can reach on the machine: ports that a neighbour finds, and sockets that listen. */
export class PortScans {
  readonly #world: World;
  readonly #noted = new Map<string, ReadonlySet<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Undefined, or what differs from the scan that this one is compared with. */
  async take({ scan, sameAs }: Scan): Promise<string | undefined> {
    const found = await this.#scan();
    this.#noted.set(scan, found);
    if (sameAs === undefined) return undefined;
    const before = this.#noted.get(sameAs);
    if (before === undefined) throw new TypeError(`the scenario has no scan '${sameAs}'`);
    const changed = [...found.symmetricDifference(before)];
    if (changed.length === 0) return undefined;
    return `not as in the scan '${sameAs}': ${changed.join(', ')}`;
  }

  async #scan(): Promise<ReadonlySet<string>> {
    const { lab } = this.#world;
    const listening = await listeningSockets(lab.namespacePath(MACHINE));
    const found = await reachableSockets(this.#world, listening);
    for (const family of FAMILIES) {
      const address = outsiderAddress(MACHINE)[family];
      const ports = await scanTcpPorts(lab.namespacePath('client'), address);
      found.push(...ports.map((port) => `port ${port} of ${address}`));
    }
    return new Set(found);
  }
}
