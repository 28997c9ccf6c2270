import fc from 'fast-check';
import type { Kind } from '../../../src/cluster/kinds.ts';
import { type Damage, damaged, damages } from './damage.ts';
import { assertEmpty, assertSound } from './invariants.ts';
import type { Tally } from './tally.ts';
import { TEMPLATES } from './templates.ts';
import type { World } from './world.ts';

/** One event of the API about one object. */
export interface Step {
  readonly kind: Kind;
  readonly type: 'put' | 'delete';
  readonly template: number;
  readonly damages: readonly Damage[];
  /** Whether the changes are taken right after it. */
  readonly isTaken: boolean;
}

const LONGEST_CASE = 24;
/** Comparing with a table made afresh costs more than the steps: not after each. */
const CHECK_EVERY = 6;

/** A short life of a cluster, in which any object may be damaged. */
export function objectCases(): fc.Arbitrary<readonly Step[]> {
  const kind = fc.constantFrom<Kind>(
    ...(['service', 'service', 'service', 'slice', 'slice', 'slice', 'slice'] as const),
    'node',
    'serviceCidr',
    'namespace',
  );
  const step = fc.record({
    kind,
    type: fc.constantFrom('put', 'put', 'put', 'delete'),
    template: fc.nat(100),
    damages: fc.array(damages(), { maxLength: 3, size: 'max' }),
    isTaken: fc.boolean(),
  }) as fc.Arbitrary<Step>;
  return fc.array(step, { minLength: 1, maxLength: LONGEST_CASE, size: 'max' });
}

export function objectOf(of: Pick<Step, 'kind' | 'template' | 'damages'>): unknown {
  const { kind, template, damages: all } = of;
  const texts = TEMPLATES[kind];
  return damaged(texts[template % texts.length] ?? '{}', all);
}

/** Throws unless the object is accepted or rejected cleanly; leaves the world empty. */
export function runObjectCase(world: World, steps: readonly Step[], tally: Tally): void {
  for (const [index, step] of steps.entries()) {
    let refused = 0;
    world.onProblem = () => refused++;
    world[step.type](step.kind, objectOf(step));
    tally.count(step.kind, { accepted: refused === 0 ? 1 : 0, refused });
    if (step.isTaken) world.takeChanges();
    if (index % CHECK_EVERY === CHECK_EVERY - 1) assertSound(world);
  }
  assertSound(world);
  world.empty();
  assertEmpty(world);
}
