import { isDeepStrictEqual } from 'node:util';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import { readStamp } from '../../../src/cluster/narrow/read-stamp.ts';
import type { Kind } from '../../../src/cluster/object-kinds.ts';
import type { WatchEvent } from '../../../src/cluster/watch-event.ts';
import type { Encoding } from '../../../src/cluster/wire/encoding.ts';
import { candidatesOf } from '../../../src/forwarding/candidates.ts';
import { endpointKey } from '../../../src/forwarding/endpoints.ts';
import { equalForwarding } from '../../../src/forwarding/equal.ts';
import { healthCheckOf } from '../../../src/forwarding/health.ts';
import { type Endpoint, type Forwarding, servicePortKey } from '../../../src/forwarding/model.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';
import { differencesOf, isRight } from '../faults/truth.ts';
import { BrokenInvariant } from './broken.ts';
import { KINDS, type World } from './world.ts';

/** Invariants of a world for any input. */
export function assertSound(world: World): void {
  world.takeChanges();
  const { table } = world;
  const rows = table.rows();
  assertApplied(world, rows);
  for (const row of rows) {
    assertReadable(table, row);
    assertPorts(row);
  }
  const differences = differencesOf(table, freshTable(world));
  if (!isRight(differences)) {
    throw broken('the table is another than one made afresh of the same objects', differences);
  }
  if ('polluted' in {}) throw broken('the prototype of all objects was changed');
}

/** An object that both encodings can have must become the same in both. */
export function assertSameInBoth(
  kind: Kind,
  object: unknown,
  decoded: WatchEvent | undefined,
): void {
  const inProtobuf = decoded && 'object' in decoded ? decoded.object : undefined;
  const read = (raw: unknown) => [narrow(kind, raw, new Interner()), readStamp(raw)];
  const [one, other] = [read(object), read(inProtobuf)];
  if (isDeepStrictEqual(one, other)) return;
  throw broken('an object is another one in protobuf than in JSON', [one, other]);
}

/** What must be true when every object has been deleted. */
export function assertEmpty(world: World): void {
  const { table, applied, told } = world;
  const left = KINDS.flatMap((kind) => [...told[kind].keys()]);
  if (left.length > 0) throw broken('received objects cannot be deleted', left);
  const names = table.serviceNames();
  if (names.length > 0) throw broken('Services stay in the table', names);
  if (applied.size > 0)
    throw broken('rows stay without a change that removes them', [...applied.keys()]);
  for (const owner of ['shop/web', 'shop/api', 'shop/db']) {
    if (table.slicesOf(owner).length > 0) throw broken('slices stay in the table', owner);
  }
}

/** What is read of a stream must not depend on where its chunks end. */
export function assertCutAnywhere(chunks: readonly Buffer[], encoding: Encoding): void {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  // What is too long to keep is kept where it comes in one piece: it is there already.
  if (bytes > LONGEST_COMPARED) return;
  const read = (of: readonly Buffer[]): unknown[] => {
    const events = encoding.events('slice');
    return of.flatMap((chunk) => [...events.push(chunk)]);
  };
  if (isDeepStrictEqual(read(chunks), read([Buffer.concat(chunks)]))) return;
  throw broken('a stream is read in another way when it is cut in other places');
}

const LONGEST_COMPARED = 1024 * 1024;

function assertApplied({ applied }: World, rows: readonly Forwarding[]): void {
  const wrong = rows.filter((row) => !equalForwarding(applied.get(servicePortKey(row.id)), row));
  if (wrong.length === 0 && applied.size === rows.length) return;
  const keys = rows.map(({ id }) => servicePortKey(id));
  throw broken('the changes do not add up to the rows', { keys, applied: [...applied.keys()] });
}

/** A row is found by its key, and the reasons given for its endpoints are those of its lists. */
function assertReadable(table: ForwardingTable, row: Forwarding): void {
  const { id } = row;
  const key = servicePortKey(id);
  if (table.get(key) !== row) throw broken('a row is not found by its key', key);
  const name = `${id.namespace}/${id.service}`;
  const service = table.service(name);
  if (!service) throw broken('a row has no Service', key);
  const slices = table.slicesOf(name);
  healthCheckOf({ service, slices, family: id.family, view: table.view });
  const candidates = candidatesOf({ service, slices, id, view: table.view });
  const lists = { cluster: row.clusterEndpoints, local: row.localEndpoints };
  for (const list of ['cluster', 'local'] as const) {
    const chosen = candidates.filter(({ verdicts }) => verdicts[list] === 'selected');
    if (isDeepStrictEqual(keysOf(chosen), keysOf(lists[list]))) continue;
    throw broken(`the reasons for the ${list} list are not its own`, key);
  }
}

function keysOf(endpoints: readonly Omit<Endpoint, 'local'>[]): string[] {
  return endpoints.map(endpointKey);
}

/** The kernel's writers put them into 16 bits. */
function assertPorts(row: Forwarding): void {
  const all = [row.frontends, row.clusterEndpoints, row.localEndpoints];
  const odd = all
    .flat()
    .find(({ port }) => !(Number.isInteger(port) && port >= 1 && port < 65_536));
  if (odd) throw broken('a row has a port that there is not', [servicePortKey(row.id), odd]);
}

/** In reverse order: the table must not depend on the order of events. */
function freshTable({ table, told }: World): ForwardingTable {
  const fresh = new ForwardingTable(table.view);
  for (const slice of [...told.slice.values()].reverse()) fresh.putSlice(slice);
  for (const namespace of told.namespace.values()) fresh.putNamespace(namespace);
  for (const service of [...told.service.values()].reverse()) fresh.putService(service);
  return fresh;
}

function broken(what: string, about?: unknown): BrokenInvariant {
  return new BrokenInvariant(about === undefined ? what : `${what}: ${JSON.stringify(about)}`);
}
