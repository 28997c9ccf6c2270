import {
  DESTINATION_PORT,
  destinationAddress,
  type Field,
  L4_PROTOCOL,
  MARK,
  SLOT,
  sourceAddress,
} from '../../linux/nftables/fields.ts';
import type { SetSpec, TableRef } from '../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import { frontendFields } from '../shared/nft/element-keys.ts';

export const TABLE_NAME = 'fairlead';
export const TABLE_COMMENT = 'Services of Kubernetes; written by fairlead, changes are undone';

export const TABLES: Readonly<Record<TableFamily, TableRef>> = {
  ip: { family: 'ip', name: TABLE_NAME },
  ip6: { family: 'ip6', name: TABLE_NAME },
};

/**
 * Elements of these belong to a single row. In the order of a packet's lookups: an element is
 * removed before those it refers to, and written after them.
 */
export const ROW_SETS = [
  'frontends',
  'node-ports',
  'source-lists',
  'limited-services',
  'reject-services',
  'reject-nodeports',
  'drop-services',
  'drop-nodeports',
  'groups',
  'slots',
  'sticky-slots',
  'sticky-endpoints',
] as const;

/** Elements of these may be wanted by several rows at once. */
export const SHARED_SETS = ['service-ips', 'hairpin', 'source-ranges'] as const;

export const CLASS_SETS = [
  'class-chains',
  'nodeport-class-chains',
  'short-class-chains',
  'nodeport-short-class-chains',
  'draw-chains',
  'nodeport-draw-chains',
  'short-draw-chains',
  'nodeport-short-draw-chains',
] as const;

/** Written by packets. */
const PACKET_SETS = ['clients', 'new-clients'] as const;

/** Where the forwarder listens, by source class. */
export const TARGET_SETS = ['forwarder-pod', 'forwarder-host', 'forwarder-outside'] as const;

/** Frontends that are not handed over (kept-frontends.ts). */
export const KEPT_SETS = ['kept-services', 'kept-nodeports'] as const;

/** Written apart from rows and inspections (forwarder-targets.ts). */
const FORWARDER_SETS = [...TARGET_SETS, ...KEPT_SETS, 'not-handed-over'] as const;

/** Sets and maps in the order in which they are made. Their names are what a reader of `nft list` sees. */
const SET_NAMES = [
  ...ROW_SETS,
  ...SHARED_SETS,
  'nodeport-ips',
  ...CLASS_SETS,
  ...PACKET_SETS,
  ...FORWARDER_SETS,
] as const;

export type SetName = (typeof SET_NAMES)[number];
export type RowSet = (typeof ROW_SETS)[number];
export type SharedSet = (typeof SHARED_SETS)[number];
export type ClassSet = (typeof CLASS_SETS)[number];

/** Affinity entries in total. The next client is forwarded to a random endpoint, and not stored. */
export const MOST_CLIENTS = 262_144;
/**
 * Affinity entries of one list of endpoints: an eighth, so that one Service leaves room for others.
 */
export const MOST_CLIENTS_OF_A_LIST = 32_768;
/** Lists with affinity in use at once; clients of one more are not stored. */
const MOST_STICKY_LISTS = 65_536;

export const NODE_PORT_FIELDS: readonly Field[] = [L4_PROTOCOL, DESTINATION_PORT];

/** The lookup key of a packet: its destination address, or the node port alone. */
export type Where = 'service' | 'nodeport';

/** Which map leads from a packet to its group. */
export function frontendMap(where: Where): 'frontends' | 'node-ports' {
  return where === 'service' ? 'frontends' : 'node-ports';
}

/** The sets of a table. */
export function setSpecs(
  family: TableFamily,
  options: { readonly handsOver?: true },
): readonly SetSpec[] {
  const names = options.handsOver ? SET_NAMES : SET_NAMES.filter((name) => !isForwarderSet(name));
  return names.map((name) => ({ name, ...DEFINITIONS[family][name] }));
}

/** Also those that only some tables have. */
export function allSetSpecs(family: TableFamily): readonly SetSpec[] {
  return setSpecs(family, { handsOver: true });
}

export function isForwarderSet(name: string): boolean {
  return (FORWARDER_SETS as readonly string[]).includes(name);
}

export function setSpec(family: TableFamily, name: SetName): SetSpec {
  return { name, ...DEFINITIONS[family][name] };
}

function define(family: TableFamily): Readonly<Record<SetName, Omit<SetSpec, 'name'>>> {
  const service = frontendFields(family);
  const nodePort = NODE_PORT_FIELDS;
  const target = [destinationAddress(family), DESTINATION_PORT];
  const mark = [MARK];
  const chains = { key: mark, value: 'verdict' } as const;
  const listener = { key: [L4_PROTOCOL], value: target, hasTimeouts: true } as const;
  return {
    frontends: { comment: 'Service address -> group', key: service, value: mark },
    'node-ports': { comment: 'node port -> group', key: nodePort, value: mark },
    'source-lists': { comment: 'with source ranges -> list', key: service, value: mark },
    'limited-services': {
      comment: 'drops clients outside of its source ranges',
      key: service,
      hasCounters: true,
    },
    'reject-services': { comment: 'no endpoint anywhere', key: service, hasCounters: true },
    'reject-nodeports': { comment: 'no endpoint anywhere', key: nodePort, hasCounters: true },
    'drop-services': { comment: 'no endpoint here', key: service, hasCounters: true },
    'drop-nodeports': { comment: 'no endpoint here', key: nodePort, hasCounters: true },
    groups: { comment: 'group -> class', key: mark, value: mark },
    slots: {
      comment: 'list, slot -> endpoint',
      key: [MARK, SLOT],
      value: target,
      hasCounters: true,
    },
    'sticky-slots': { comment: 'list, slot -> endpoint id', key: [MARK, SLOT], value: mark },
    'sticky-endpoints': {
      comment: 'list, endpoint id -> endpoint',
      key: [MARK, MARK],
      value: target,
      hasCounters: true,
    },
    'service-ips': { comment: 'every cluster IP', key: [destinationAddress(family)] },
    hairpin: {
      comment: 'endpoints of this node',
      key: [sourceAddress(family), destinationAddress(family)],
    },
    'source-ranges': {
      comment: 'prefix length and list, prefix that may ask',
      key: [MARK, sourceAddress(family)],
    },
    'nodeport-ips': { comment: 'node ports are served on', key: [destinationAddress(family)] },
    'class-chains': { comment: 'class -> what is done', ...chains },
    'nodeport-class-chains': { comment: 'the same', ...chains },
    'short-class-chains': { comment: 'the same', ...chains },
    'nodeport-short-class-chains': { comment: 'the same', ...chains },
    'draw-chains': { comment: 'for clients that are not remembered', ...chains },
    'nodeport-draw-chains': { comment: 'the same', ...chains },
    'short-draw-chains': { comment: 'the same', ...chains },
    'nodeport-short-draw-chains': { comment: 'the same', ...chains },
    clients: {
      comment: 'list, client -> endpoint id',
      key: [MARK, sourceAddress(family)],
      value: mark,
      dynamicSize: MOST_CLIENTS,
    },
    'new-clients': {
      comment: 'list, how many more clients it may have',
      key: mark,
      dynamicSize: MOST_STICKY_LISTS,
    },
    'forwarder-pod': { comment: 'its listener for pods of this node', ...listener },
    'forwarder-host': { comment: 'its listener for this node itself', ...listener },
    'forwarder-outside': { comment: 'its listener for all others', ...listener },
    'kept-services': { comment: 'the forwarder has no room for them', key: service },
    'kept-nodeports': { comment: 'the same', key: nodePort },
    'not-handed-over': {
      comment: 'connections that no forwarder took',
      key: [L4_PROTOCOL],
      hasCounters: true,
    },
  };
}

const DEFINITIONS = { ip: define('ip'), ip6: define('ip6') } as const;
