import { ipBatch, namespaceName } from '../../lab/host/namespaces.ts';
import { FABRIC, FAMILIES, MACHINE } from '../../lab/network/plan.ts';
import type { World } from '../world.ts';

/** A machine that knows its networks and the pods, and nothing else. */
export async function dropDefaultRoutes(world: World, name: string): Promise<void> {
  const machine = namespaceName({ lab: world.lab.name, role: MACHINE });
  const change = (action: 'add' | 'delete'): Promise<void> =>
    ipBatch(
      FAMILIES.map((family) => `route ${action} default via ${FABRIC[family]}`),
      machine,
    );
  await change('delete');
  world.note(name, { [Symbol.asyncDispose]: () => change('add') });
}
