import { hash } from 'node:crypto';
import {
  type Endpoint,
  type EndpointList,
  type Forwarding,
  type Frontend,
  type Outcome,
  servicePortKey,
} from '../../forwarding/model.ts';
import {
  CLASS_ORDER,
  FRONTEND,
  FRONTEND_KEY,
  MOST_ENDPOINTS,
  OUTCOME_BYTES,
  OutcomeFlag,
  PROTOCOL_NUMBER,
  SLOT,
  tagOf,
  writeAddress,
  writeOutcome,
} from './layout.ts';

/**
 * The endpoints of a row, one beside the other, so that each of its lists is a stretch of them:
 * those only in the local list, those in both, those only in the cluster's.
 */
export interface Sequence {
  readonly endpoints: readonly Endpoint[];
  readonly lists: Readonly<
    Record<EndpointList, { readonly offset: number; readonly count: number }>
  >;
}

const NO_LIST = { offset: 0, count: 0 } as const;
const EMPTY: Sequence = { endpoints: [], lists: { cluster: NO_LIST, local: NO_LIST } };

/** Frontends that the maps have. SCTP has no socket hooks; what another Service has is its own. */
export function servedFrontends(row: Forwarding | undefined): readonly Frontend[] {
  if (row === undefined || row.id.protocol === 'SCTP') return [];
  const { frontends } = row;
  return frontends.every(isServed) ? frontends : frontends.filter(isServed);
}

function isServed({ lostTo }: Frontend): boolean {
  return lostTo === undefined;
}

export function sequenceOf(row: Forwarding, frontends: readonly Frontend[]): Sequence {
  const uses = (list: EndpointList): boolean =>
    frontends.some(({ outcomes }) => CLASS_ORDER.some((each) => isTo(outcomes[each], list)));
  const cluster = uses('cluster') ? row.clusterEndpoints : [];
  const local = uses('local') ? row.localEndpoints : [];
  if (local.length === 0) {
    if (cluster.length === 0) return EMPTY;
    return {
      endpoints: cluster,
      lists: { cluster: { offset: 0, count: cluster.length }, local: NO_LIST },
    };
  }
  return interleaved(cluster, local);
}

function interleaved(cluster: readonly Endpoint[], local: readonly Endpoint[]): Sequence {
  const localNames = new Set(local.map(nameOf));
  const clusterNames = new Set(cluster.map(nameOf));
  const onlyLocal = local.filter((each) => !clusterNames.has(nameOf(each)));
  const both = local.filter((each) => clusterNames.has(nameOf(each)));
  const onlyCluster = cluster.filter((each) => !localNames.has(nameOf(each)));
  return {
    endpoints: [...onlyLocal, ...both, ...onlyCluster],
    lists: {
      local: { offset: 0, count: local.length },
      cluster: { offset: onlyLocal.length, count: cluster.length },
    },
  };
}

function nameOf({ address, port }: Endpoint): string {
  return `${address} ${port}`;
}

function isTo(outcome: Outcome, list: EndpointList): boolean {
  return outcome.action === 'forward' && outcome.list === list;
}

/** A node port has the unspecified address of its family. */
function writeFrontendKey(
  target: Buffer,
  at: number,
  { row, frontend }: { readonly row: Forwarding; readonly frontend: Frontend },
): void {
  const { family, protocol } = row.id;
  const anywhere = family === 'IPv4' ? '0.0.0.0' : '::';
  writeAddress(target, at + FRONTEND_KEY.address, frontend.address || anywhere);
  target.writeUInt16BE(frontend.port, at + FRONTEND_KEY.port);
  target[at + FRONTEND_KEY.protocol] = PROTOCOL_NUMBER[protocol];
  target[at + FRONTEND_KEY.bytes - 1] = 0;
}

/** What the kernel should have under the key; the row's endpoints begin at slot `first`. */
function writeFrontend(
  target: Buffer,
  at: number,
  of: {
    readonly row: Forwarding;
    readonly frontend: Frontend;
    readonly sequence: Sequence;
    readonly first: number;
    readonly tag: number;
  },
): void {
  const { row, frontend, sequence, first, tag } = of;
  const flags =
    (row.affinitySeconds > 0 ? OutcomeFlag.affinity : 0) |
    (frontend.allowedSources === undefined ? 0 : OutcomeFlag.ranges);
  for (let index = 0; index < CLASS_ORDER.length; index++) {
    const outcome = frontend.outcomes[CLASS_ORDER[index] as (typeof CLASS_ORDER)[number]];
    const place = at + FRONTEND.outcomes + index * OUTCOME_BYTES;
    if (outcome.action !== 'forward') {
      const flag = OutcomeFlag[outcome.action];
      writeOutcome(target, place, { first: 0, count: 0, flags: flags | flag, tag });
      continue;
    }
    const { offset, count } = sequence.lists[outcome.list];
    writeOutcome(target, place, {
      first: count === 0 ? 0 : first + offset,
      count: Math.min(count, MOST_ENDPOINTS),
      flags: flags | (outcome.masquerade ? OutcomeFlag.masquerade : 0),
      tag,
    });
  }
  writeService(target, at, row);
}

/** Who stays with their endpoint is remembered under the name of the service port. */
function writeService(target: Buffer, at: number, row: Forwarding): void {
  const { affinitySeconds } = row;
  target.writeInt32LE(0, at + FRONTEND.service);
  target.writeInt32LE(0, at + FRONTEND.service + 4);
  target.writeUInt32LE(affinitySeconds, at + FRONTEND.affinitySeconds);
  target.writeInt32LE(0, at + FRONTEND.bytes - 4);
  if (affinitySeconds === 0) return;
  hash('sha1', servicePortKey(row.id), 'buffer').copy(target, at + FRONTEND.service, 0, 8);
}

export function frontendKeyOf(row: Forwarding, frontend: Frontend): Buffer {
  // Every byte is written; a zeroed buffer of its own would cost more than all of that.
  const key = Buffer.allocUnsafe(FRONTEND_KEY.bytes);
  writeFrontendKey(key, 0, { row, frontend });
  return key;
}

export function frontendValueOf(
  key: Buffer,
  of: {
    readonly row: Forwarding;
    readonly frontend: Frontend;
    readonly sequence: Sequence;
    readonly first: number;
  },
): Buffer {
  const value = Buffer.allocUnsafe(FRONTEND.bytes);
  writeFrontend(value, 0, { ...of, tag: tagOf(key) });
  return value;
}

/** A slot with nothing counted yet. */
export function writeSlot(
  target: Buffer,
  at: number,
  { address, port }: { readonly address: string; readonly port: number },
): void {
  writeAddress(target, at + SLOT.address, address);
  target.writeInt32LE(0, at + SLOT.port);
  target.writeUInt16BE(port, at + SLOT.port);
  target.writeInt32LE(0, at + SLOT.port + 4);
  target.writeInt32LE(0, at + SLOT.connections);
  target.writeInt32LE(0, at + SLOT.connections + 4);
}
