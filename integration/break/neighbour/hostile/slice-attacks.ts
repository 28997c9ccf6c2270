import { type Attack, endpoints, MOST_IN_SLICE, ONE_PORT, SLICE_PORTS } from './attack.ts';
import { type Attacker, inParallel } from './attacker.ts';

const FLOOD_WRITERS = 16;
const FLOOD_ENDPOINTS = 100;

/** What can be done with slices. */
export const SLICE_ATTACKS: readonly Attack[] = [
  {
    name: 'endpoints',
    what: 'up to 100 slices of 1,000 endpoints on one Service, each replaced again and again',
    run: manyEndpoints,
  },
  {
    name: 'slice flood',
    what: 'updates of 16 slices of 100 endpoints as fast as the API server takes them',
    run: flood,
  },
  {
    name: 'local claims',
    what: '1,000 endpoints that claim to be on this node, or not, and to be ready, or not',
    run: claimToBeLocal,
  },
];

async function manyEndpoints(on: Attacker, signal: AbortSignal): Promise<void> {
  const { random, limits } = on;
  const list = (index: number, shift: number): object[] =>
    endpoints({
      block: 8 + (index >> 6),
      count: MOST_IN_SLICE,
      from: (index & 63) * 1_020 + shift,
    });
  await on.createService('wide', { ports: ONE_PORT });
  let made = 0;
  await inParallel(2, signal, async () => {
    if (made >= limits.wideSlices) {
      const index = random.below(limits.wideSlices);
      return await on.patchSlice(`wide-${index}`, list(index, random.below(20)));
    }
    const index = made++;
    await on.createSlice({
      name: `wide-${index}`,
      service: 'wide',
      endpoints: list(index, 0),
      ports: SLICE_PORTS,
    });
  });
}

async function flood(on: Attacker, signal: AbortSignal): Promise<void> {
  const list = (worker: number): object[] =>
    endpoints({ block: 7, count: FLOOD_ENDPOINTS, from: worker * 4_000 + on.random.below(3_000) });
  const name = (worker: number): string => `flood-${worker}`;
  await Promise.all(
    Array.from({ length: FLOOD_WRITERS }, async (_, worker) => {
      const service = name(worker);
      await on.createService(service, { ports: ONE_PORT });
      const slice = { name: service, service, endpoints: list(worker), ports: SLICE_PORTS };
      await on.createSlice(slice);
    }),
  );
  await inParallel(FLOOD_WRITERS, signal, (worker) => on.patchSlice(name(worker), list(worker)));
}

async function claimToBeLocal(on: Attacker, signal: AbortSignal): Promise<void> {
  const { random } = on;
  const list = (): object[] =>
    endpoints({ block: 10, count: MOST_IN_SLICE, from: 0 }).map((endpoint) => ({
      ...endpoint,
      nodeName: random.pick(['node1', 'elsewhere-a']),
      conditions: {
        ready: random.below(2) === 0,
        serving: random.below(2) === 0,
        terminating: random.below(4) === 0,
      },
    }));
  const policies = { internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' };
  await on.createService('local', { type: 'NodePort', ports: ONE_PORT, ...policies });
  await on.createSlice({ name: 'local', service: 'local', endpoints: list(), ports: SLICE_PORTS });
  await inParallel(1, signal, () => on.patchSlice('local', list()));
}
