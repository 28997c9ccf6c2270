import fc from 'fast-check';
import type { ClusterError, ClusterErrorCode } from '../../../src/cluster/cluster-error.ts';
import { REFLECTOR_TIMING, Reflector } from '../../../src/cluster/reflector.ts';
import { SERVICES, SLICES } from '../../../src/cluster/resources.ts';
import { InstantClock } from '../../../src/time/testing/instant-clock.ts';
import { BrokenInvariant } from './broken.ts';
import { type Damage, damages } from './damage.ts';
import { type EncodingName, type Event, WIRES, type Wire } from './encodings.ts';
import { assertCutAnywhere, assertEmpty, assertSound } from './invariants.ts';
import { objectOf } from './object-cases.ts';
import { type Script, ScriptedServer } from './scripted-server.ts';
import { damagedChunks, type StreamDamage, streamDamages } from './stream-damage.ts';
import type { Tally } from './tally.ts';
import { TEMPLATES } from './templates.ts';
import { BEFORE_CLEAN, cleanAnswer, isTruth, MARKER } from './truth.ts';
import type { World } from './world.ts';

interface Line {
  readonly type: string;
  readonly template: number;
  readonly damages: readonly Damage[];
}

interface DamagedStream {
  readonly lines: readonly Line[];
  readonly damage: StreamDamage;
}

/** What a server sends before it comes to its senses: an answer to each request. */
export interface StreamCase {
  readonly kind: 'service' | 'slice';
  readonly encoding: EncodingName;
  readonly streams: readonly DamagedStream[];
}

/** What a reader of broken streams may report; anything else is a fault of its own. */
const EXPECTED: readonly ClusterErrorCode[] = [
  'CLUSTER_MALFORMED',
  'CLUSTER_GONE',
  'CLUSTER_ANSWER',
  'CLUSTER_CONNECTION_LOST',
];
/** More requests than any orderly recovery takes. */
const MOST_REQUESTS = 20;
const DEADLINE_MS = 30_000;
const NO_CHOICE = 0.5;

/** Few errors: the reader stops at the first. */
const TYPES = [
  ...['ADDED', 'ADDED', 'ADDED', 'ADDED', 'ADDED', 'MODIFIED', 'MODIFIED', 'DELETED', 'DELETED'],
  ...['ADDED', 'ADDED', 'ADDED', 'ADDED', 'ADDED', 'MODIFIED', 'BOOKMARK', 'END', 'ERROR'],
];

export function streamCases(): fc.Arbitrary<StreamCase> {
  const line = fc.record({
    type: fc.constantFrom(...TYPES),
    template: fc.nat(100),
    damages: fc.array(damages(), { maxLength: 1 }),
  });
  const stream = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 10, size: 'max' }),
    damage: streamDamages(),
  });
  return fc.record({
    kind: fc.constantFrom('service', 'slice'),
    encoding: fc.constantFrom('json', 'protobuf'),
    streams: fc.array(stream, { minLength: 1, maxLength: 5, size: 'max' }),
  });
}

/** Throws when the reader breaks, or does not find back to the truth; leaves the world empty. */
export async function runStreamCase(world: World, of: StreamCase, tally: Tally): Promise<void> {
  const { kind, encoding, streams } = of;
  if (kind === 'slice') {
    for (const text of TEMPLATES.service) world.put('service', JSON.parse(text));
  }
  const counts = await follow(world, of);
  const given = streams.reduce((sum, { lines }) => sum + lines.length, 0);
  tally.count('watch events', { encoding, given, ...counts });
  for (const code of counts.problems) tally.countProblem(code);
  assertSound(world);
  if (!isTruth(kind, world)) throw new BrokenInvariant('a new list did not bring the truth');
  for (const key of [...world.told[kind].keys()]) world.take({ kind, type: 'delete', key });
  world.empty();
  assertEmpty(world);
}

interface Counts {
  accepted: number;
  rejected: number;
  readonly problems: ClusterErrorCode[];
}

/** Until the server has sent its marker. Counts end where the server sends valid streams. */
async function follow(world: World, of: StreamCase): Promise<Counts> {
  const { kind, streams } = of;
  const wire = WIRES[of.encoding];
  const counts: Counts = { accepted: 0, rejected: 0, problems: [] };
  let isInOrder = false;
  const server = new ScriptedServer((query, index) => {
    if (index > MOST_REQUESTS) throw new BrokenInvariant('the reader does not find back');
    const stream = streams[index];
    isInOrder = stream === undefined;
    const script = stream
      ? damagedAnswer({ kind, query, wire }, stream)
      : cleanAnswer(kind, query, wire);
    return sabotaged(script, world);
  });
  const end = new AbortController();
  const reflector = new Reflector<'service' | 'slice'>({
    resource: kind === 'service' ? SERVICES : SLICES,
    getter: server,
    interner: world.interner,
    clock: new InstantClock(),
    random: () => NO_CHOICE,
    timing: REFLECTOR_TIMING,
    onEvent: (event) => {
      world.take(event);
      if (event.type === 'put' && !isInOrder) counts.accepted++;
      if (event.type === 'put' && event.key === MARKER) end.abort();
    },
    onProblem: (problem) => {
      assertExpected(problem);
      counts.problems.push(problem.code);
      if (problem.code === 'CLUSTER_MALFORMED' && !isInOrder) counts.rejected++;
    },
  });
  await withDeadline(end, () => reflector.run(end.signal));
  return counts;
}

async function withDeadline(end: AbortController, run: () => Promise<void>): Promise<void> {
  const late = new BrokenInvariant('the reader waits for what was sent');
  const timer = setTimeout(() => end.abort(late), DEADLINE_MS);
  try {
    await run();
  } finally {
    clearTimeout(timer);
  }
  if (end.signal.reason === late) throw late;
}

function assertExpected({ code }: ClusterError): void {
  if (!EXPECTED.includes(code))
    throw new BrokenInvariant(`a malformed stream was reported as ${code}`);
}

/** The same objects and the same damage, as a watch or as a list. */
function damagedAnswer(
  of: { readonly kind: StreamCase['kind']; readonly query: URLSearchParams; readonly wire: Wire },
  { lines, damage }: DamagedStream,
): Script {
  const { kind, query, wire } = of;
  const events = lines.map(({ type, ...line }) => eventOf(type, objectOf({ kind, ...line })));
  const metadata = { resourceVersion: BEFORE_CLEAN };
  const items = events.map((event) => event.object);
  const told = query.has('watch')
    ? events.map((event) => wire.event(kind, event))
    : [wire.list(kind, { metadata, items })];
  const chunks = damagedChunks(told, damage, query.has('watch') ? wire.framed : asItIs);
  assertCutAnywhere(chunks, wire.encoding);
  return { chunks, ends: true, mediaType: wire.encoding.mediaType };
}

const asItIs = (bytes: Buffer): Buffer => bytes;

function sabotaged(script: Script, { sabotage }: World): Script {
  const { onChunk } = sabotage;
  return onChunk === undefined ? script : { ...script, chunks: script.chunks.map(onChunk) };
}

function eventOf(type: string, object: unknown): Event {
  if (type === 'ERROR') return { type, object: { kind: 'Status', code: 500, message: 'odd' } };
  if (type !== 'BOOKMARK' && type !== 'END') return { type, object };
  const annotations = type === 'END' ? { 'k8s.io/initial-events-end': 'true' } : {};
  const metadata = { resourceVersion: BEFORE_CLEAN, annotations };
  return { type: 'BOOKMARK', object: { metadata } };
}
