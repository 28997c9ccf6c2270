import fc from 'fast-check';
import { ClusterError } from '../../../src/cluster/cluster-error.ts';
import type { Kind } from '../../../src/cluster/object-kinds.ts';
import { type Damage, damaged, damages } from './damage.ts';
import { type EncodingName, WIRES } from './encodings.ts';
import { fits } from './fits.ts';
import { assertEmpty, assertSameInBoth, assertSound } from './invariants.ts';
import { byteInjuries, hurt, type Injury } from './stream-damage.ts';
import type { Tally } from './tally.ts';
import { TEMPLATES } from './templates.ts';
import type { World } from './world.ts';

/** One event of the API about one object. */
export interface Step {
  readonly kind: Kind;
  readonly type: 'put' | 'delete';
  readonly template: number;
  readonly damages: readonly Damage[];
  readonly encoding: EncodingName;
  /** Done to the bytes, where they are in protobuf. */
  readonly injuries: readonly Injury[];
  /** Whether the changes are taken right after it. */
  readonly isTaken: boolean;
}

/** As a reflector takes it: no object, and no end. */
const NOT_DECODED = new ClusterError('CLUSTER_MALFORMED', 'not decoded', { next: '' });
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
    encoding: fc.constantFrom('json', 'protobuf'),
    injuries: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(byteInjuries(), { minLength: 1, maxLength: 3 }) },
    ),
    isTaken: fc.boolean(),
  }) as fc.Arbitrary<Step>;
  return fc.array(step, { minLength: 1, maxLength: LONGEST_CASE, size: 'max' });
}

export function objectOf(of: Pick<Step, 'kind' | 'template' | 'damages'>): unknown {
  const { kind, template, damages: all } = of;
  const texts = TEMPLATES[kind];
  return damaged(texts[template % texts.length] ?? '{}', all);
}

function give(world: World, step: Step): void {
  const { kind, type, encoding } = step;
  const object = objectOf(step);
  if (encoding === 'json') {
    world[type](kind, object);
    return;
  }
  const event = WIRES.protobuf.event(kind, { type: type === 'put' ? 'ADDED' : 'DELETED', object });
  const isWhole = step.injuries.length === 0;
  const decoded = world.decode(kind, isWhole ? event : hurt(event, step.injuries));
  if (isWhole && fits(kind, object)) assertSameInBoth(kind, object, decoded);
  if (decoded?.type !== 'put' && decoded?.type !== 'delete') world.onProblem(NOT_DECODED);
  else world[decoded.type](kind, decoded.object);
}

/** Throws unless the object is accepted or rejected cleanly; leaves the world empty. */
export function runObjectCase(world: World, steps: readonly Step[], tally: Tally): void {
  for (const [index, step] of steps.entries()) {
    let rejected = 0;
    world.onProblem = () => rejected++;
    give(world, step);
    tally.count(step.kind, {
      encoding: step.encoding,
      accepted: rejected === 0 ? 1 : 0,
      rejected,
    });
    if (step.isTaken) world.takeChanges();
    if (index % CHECK_EVERY === CHECK_EVERY - 1) assertSound(world);
  }
  assertSound(world);
  world.empty();
  assertEmpty(world);
}
