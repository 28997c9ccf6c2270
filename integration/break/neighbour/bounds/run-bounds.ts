import { abortable } from '../../../../lab/host/interruption.ts';
import type { FairleadMode } from '../../../../lab/proxies/fairlead-modes.ts';
import { ClientPorts } from '../../faults/plane/connections.ts';
import type { NeighbourScene } from '../scene.ts';
import type { BoundResult, BoundsResult } from './answer.ts';
import type { Bound } from './bound.ts';
import { Tenant } from './tenant.ts';
import { Victim } from './victim.ts';

export interface RunBoundsOptions {
  readonly scene: NeighbourScene;
  readonly mode: FairleadMode;
  readonly program: readonly string[];
  readonly tool: string;
  readonly bounds: readonly Bound[];
  readonly detail: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Fills one bound after the other, and asks the victim while each is full. */
export async function runBounds(options: RunBoundsOptions): Promise<BoundsResult> {
  using tenant = await Tenant.admit(options);
  const beganMs = performance.now();
  const ports = new ClientPorts();
  const results: BoundResult[] = [];
  for (const bound of options.bounds) {
    options.detail(bound.name);
    results.push(await fillAndAsk(bound, tenant, { ...options, ports }));
  }
  return {
    proxy: options.scene.proxy.variant.name,
    seconds: secondsSince(beganMs),
    bounds: results,
  };
}

async function fillAndAsk(
  bound: Bound,
  tenant: Tenant,
  { scene, mode, program, ports, signal }: RunBoundsOptions & { readonly ports: ClientPorts },
): Promise<BoundResult> {
  const { name, limit } = bound;
  const beganMs = performance.now();
  await using victim = new Victim({
    scene,
    program,
    ports,
    newName: `new-${name.replaceAll(' ', '-')}`,
  });
  await victim.begin();
  const asked = await fillBound(bound, tenant, { victim, signal });
  signal.throwIfAborted();
  const emptied = await tenant.deleteAll().then(
    (ms) => ({ emptiedSeconds: ms / 1_000 }),
    (error: unknown) => ({ emptiedSeconds: Number.POSITIVE_INFINITY, error: messageOf(error) }),
  );
  signal.throwIfAborted();
  const moves = bound.movesAffinityIn?.includes(mode) ? { movesAffinity: true as const } : {};
  return { name, limit, fillSeconds: secondsSince(beganMs), ...moves, ...emptied, ...asked };
}

type Asked = Pick<BoundResult, 'filledTo' | 'notFull' | 'isTold' | 'victim' | 'error'>;

async function fillBound(
  bound: Bound,
  tenant: Tenant,
  of: { victim: Victim; signal: AbortSignal },
): Promise<Asked> {
  try {
    const { to, notFull, release } = await bound.fill(tenant);
    try {
      const victim = await abortable(of.victim.ask(bound.told), of.signal);
      return {
        filledTo: to,
        ...(notFull === undefined ? {} : { notFull }),
        ...(bound.told === undefined ? {} : { isTold: bound.told.test(victim.status.text) }),
        victim,
      };
    } finally {
      await release();
    }
  } catch (error) {
    // The next bound is asked all the same; the verdict of this one says what happened.
    of.signal.throwIfAborted();
    return { filledTo: '-', error: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function secondsSince(fromMs: number): number {
  return (performance.now() - fromMs) / 1_000;
}
