import { hash } from 'node:crypto';
import {
  type Endpoint,
  type EndpointList,
  type Forwarding,
  type Frontend,
  type Outcome,
  type ServicePortKey,
  servicePortKey,
} from '../../../../forwarding/model.ts';
import {
  bytesOf,
  FRONTEND,
  FRONTEND_KEY,
  MOST_ENDPOINTS,
  OUTCOME_BYTES,
  OutcomeFlag,
  PROTOCOL_NUMBER,
  portWord,
  tagOf,
  type Words,
  wordsIn,
  writeAddress,
  writeOutcome,
} from './layout.ts';
import type { PodNetwork } from './pod-network-entry.ts';

/**
 * The endpoints of a row, one beside the other, so that each of its lists is a stretch of them:
 * those only in the local list, those in both, those only in the cluster's.
 */
export interface Sequence {
  readonly endpoints: readonly Endpoint[];
  readonly lists: Readonly<
    Record<EndpointList, { readonly offset: number; readonly count: number }>
  >;
  /** Some endpoint is outside the pod network; false where it makes no difference. */
  readonly isBeyond: boolean;
  /** A list has more endpoints than an outcome can count: the plane behind serves the row. */
  readonly isTooLong: boolean;
}

const NO_LIST = { offset: 0, count: 0 } as const;
const EMPTY: Sequence = {
  endpoints: [],
  lists: { cluster: NO_LIST, local: NO_LIST },
  isBeyond: false,
  isTooLong: false,
};
const TOO_LONG: Sequence = { ...EMPTY, isTooLong: true };

const NONE: readonly Frontend[] = [];

/**
 * Frontends in the maps. SCTP has no socket hooks; frontends of another Service are in its own row.
 */
export function servedFrontends(row: Forwarding | undefined): readonly Frontend[] {
  if (row === undefined || row.onlyPackets || row.id.protocol === 'SCTP') return NONE;
  const { frontends } = row;
  return frontends.every(isServed) ? frontends : frontends.filter(isServed);
}

function isServed({ notServed }: Frontend): boolean {
  return notServed === undefined;
}

/** `network`: of the pods, where an endpoint outside of it must be marked. */
export function sequenceOf(
  row: Forwarding,
  frontends: readonly Frontend[],
  network: PodNetwork | undefined,
): Sequence {
  const cluster = isUsed('cluster', frontends) ? row.clusterEndpoints : [];
  const local = isUsed('local', frontends) ? row.localEndpoints : [];
  if (Math.max(cluster.length, local.length) > MOST_ENDPOINTS) return TOO_LONG;
  if (local.length === 0) {
    if (cluster.length === 0) return EMPTY;
    return {
      endpoints: cluster,
      lists: { cluster: { offset: 0, count: cluster.length }, local: NO_LIST },
      isBeyond: isAnyOutside(network, cluster),
      isTooLong: false,
    };
  }
  const both = interleaved(cluster, local);
  return { ...both, isBeyond: isAnyOutside(network, both.endpoints), isTooLong: false };
}

function isAnyOutside(network: PodNetwork | undefined, endpoints: readonly Endpoint[]): boolean {
  return network !== undefined && endpoints.some(({ address }) => !network.has(address));
}

function isUsed(list: EndpointList, frontends: readonly Frontend[]): boolean {
  for (const { outcomes } of frontends) {
    const { pod, host, outside } = outcomes;
    if (isTo(pod, list) || isTo(host, list) || isTo(outside, list)) return true;
  }
  return false;
}

function interleaved(
  cluster: readonly Endpoint[],
  local: readonly Endpoint[],
): Pick<Sequence, 'endpoints' | 'lists'> {
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

/** The inputs of an entry. */
export interface EntrySource {
  readonly row: Forwarding;
  readonly frontend: Frontend;
  readonly sequence: Sequence;
  /** The slot at which the row's endpoints begin. */
  readonly first: number;
}

/** A node port has the unspecified address of its family. */
export function writeFrontendKey(target: Words, at: number, source: KeySource): void {
  const { family, protocol } = source.row.id;
  const { address, port } = source.frontend;
  writeAddress(target, at, address || (family === 'IPv4' ? '0.0.0.0' : '::'));
  target[at + KEY_PORT] = portWord(port) | (PROTOCOL_NUMBER[protocol] << 16);
}

type KeySource = Pick<EntrySource, 'row' | 'frontend'>;

const KEY_PORT = FRONTEND_KEY.port / 4;
const SERVICE = FRONTEND.service / 4;
const AFFINITY_SECONDS = FRONTEND.affinitySeconds / 4;
const OUTCOME_WORDS = OUTCOME_BYTES / 4;

/** The desired entry under the key with this tag. */
export function writeFrontend(
  target: Words,
  at: number,
  source: EntrySource & { readonly tag: number },
): void {
  const { row, frontend, sequence, first, tag } = source;
  const flags =
    (row.affinitySeconds > 0 ? OutcomeFlag.affinity : 0) |
    (frontend.allowedSources === undefined ? 0 : OutcomeFlag.ranges) |
    (sequence.isBeyond ? OutcomeFlag.beyond : 0) |
    (sequence.isTooLong ? OutcomeFlag.pass : 0);
  const { pod, host, outside } = frontend.outcomes;
  const common = { sequence, first, flags, tag };
  writeOne(target, at, { outcome: pod, ...common });
  writeOne(target, at + OUTCOME_WORDS, { outcome: host, ...common });
  writeOne(target, at + 2 * OUTCOME_WORDS, { outcome: outside, ...common });
  writeService(target, at, row);
}

function writeOne(
  target: Words,
  at: number,
  written: { outcome: Outcome; sequence: Sequence; first: number; flags: number; tag: number },
): void {
  const { outcome, sequence, first, flags, tag } = written;
  if (outcome.action !== 'forward') {
    const flag = OutcomeFlag[outcome.action];
    writeOutcome(target, at, { first: 0, count: 0, flags: flags | flag, tag });
    return;
  }
  const { offset, count } = sequence.lists[outcome.list];
  writeOutcome(target, at, {
    first: count === 0 ? 0 : first + offset,
    count,
    flags: flags | (outcome.masquerade ? OutcomeFlag.masquerade : 0),
    tag,
  });
}

/** Affinity entries are stored under the name of the service port. */
function writeService(target: Words, at: number, row: Forwarding): void {
  const { affinitySeconds } = row;
  target[at + SERVICE] = 0;
  target[at + SERVICE + 1] = 0;
  target[at + AFFINITY_SECONDS] = affinitySeconds;
  target[at + AFFINITY_SECONDS + 1] = 0;
  if (affinitySeconds === 0) return;
  const name = affinityName(servicePortKey(row.id));
  target[at + SERVICE] = name.readInt32LE(0);
  target[at + SERVICE + 1] = name.readInt32LE(4);
}

/** Eight bytes that stand for a service port in the maps, the same after every restart. */
export function affinityName(key: ServicePortKey): Buffer {
  return hash('sha1', key, 'buffer').subarray(0, 8);
}

export function frontendKeyOf(row: Forwarding, frontend: Frontend): Buffer {
  const key = new Int32Array(wordsIn(FRONTEND_KEY));
  writeFrontendKey(key, 0, { row, frontend });
  return bytesOf(key);
}

export function frontendValueOf(source: EntrySource): Buffer {
  const key = new Int32Array(wordsIn(FRONTEND_KEY));
  writeFrontendKey(key, 0, source);
  const value = new Int32Array(wordsIn(FRONTEND));
  writeFrontend(value, 0, { ...source, tag: tagOf(key) });
  return bytesOf(value);
}

/** A slot with counters of zero. */
export function writeSlot(
  target: Words,
  at: number,
  { address, port }: { readonly address: string; readonly port: number },
): void {
  writeAddress(target, at, address);
  target[at + 4] = portWord(port);
  target[at + 5] = 0;
  target[at + 6] = 0;
  target[at + 7] = 0;
}
