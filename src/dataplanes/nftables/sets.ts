import {
  DESTINATION_PORT,
  destinationAddress,
  type Field,
  L4_PROTOCOL,
  MARK,
  SLOT,
  sourceAddress,
} from '../../linux/nftables/fields.ts';
import type { SetSpec, TableRef } from '../../linux/nftables/objects.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';

export const TABLE_NAME = 'fairlead';
export const TABLE_COMMENT = 'Services of Kubernetes; written by fairlead, changes are undone';

export const TABLES: Readonly<Record<TableFamily, TableRef>> = {
  ip: { family: 'ip', name: TABLE_NAME },
  ip6: { family: 'ip6', name: TABLE_NAME },
};

/**
 * Elements of these belong to a single row. Where a packet is looked up first comes first: an
 * element that leads somewhere is removed before what it leads to.
 */
export const ROW_SETS = [
  'services',
  'nodeports',
  'short-circuit',
  'short-circuit-nodeports',
  'affinity-groups',
  'affinity-nodeport-groups',
  'short-affinity-groups',
  'short-affinity-nodeport-groups',
  'firewall-lists',
  'reject-services',
  'reject-nodeports',
  'drop-services',
  'drop-nodeports',
  'endpoints',
  'nodeport-endpoints',
  'affinity-slots',
  'affinity-endpoints',
] as const;

/** Elements of these may be wanted by several rows at once. */
export const SHARED_SETS = ['cluster-ips', 'hairpin', 'allowed-sources'] as const;

export const CLASS_SETS = [
  'classes',
  'nodeport-classes',
  'short-classes',
  'nodeport-short-classes',
] as const;

/** Sets and maps in the order in which they are made. Their names are what a reader of `nft list` sees. */
const SET_NAMES = [...ROW_SETS, ...SHARED_SETS, 'nodeport-ips', ...CLASS_SETS, 'affinity'] as const;

export type SetName = (typeof SET_NAMES)[number];
export type RowSet = (typeof ROW_SETS)[number];
export type SharedSet = (typeof SHARED_SETS)[number];
export type ClassSet = (typeof CLASS_SETS)[number];

/** Clients that can be remembered at once. A packet beyond it is forwarded, and not remembered. */
const MOST_REMEMBERED_CLIENTS = 262_144;

export function frontendFields(family: TableFamily): readonly Field[] {
  return [destinationAddress(family), L4_PROTOCOL, DESTINATION_PORT];
}

export const NODE_PORT_FIELDS: readonly Field[] = [L4_PROTOCOL, DESTINATION_PORT];

export function setSpecs(family: TableFamily): readonly SetSpec[] {
  return SET_NAMES.map((name) => ({ name, ...DEFINITIONS[family][name] }));
}

export function setSpec(family: TableFamily, name: SetName): SetSpec {
  return { name, ...DEFINITIONS[family][name] };
}

function define(family: TableFamily): Readonly<Record<SetName, Omit<SetSpec, 'name'>>> {
  const service = frontendFields(family);
  const nodePort = NODE_PORT_FIELDS;
  const target = [destinationAddress(family), DESTINATION_PORT];
  const mark = [MARK];
  return {
    services: { comment: 'Service address -> class', key: service, value: mark },
    nodeports: { comment: 'node port -> class', key: nodePort, value: mark },
    'short-circuit': { comment: 'asked from this node -> class', key: service, value: mark },
    'short-circuit-nodeports': { comment: 'the same', key: nodePort, value: mark },
    'affinity-groups': { comment: 'with session affinity -> group', key: service, value: mark },
    'affinity-nodeport-groups': { comment: 'the same', key: nodePort, value: mark },
    'short-affinity-groups': { comment: 'asked from this node', key: service, value: mark },
    'short-affinity-nodeport-groups': { comment: 'the same', key: nodePort, value: mark },
    'firewall-lists': { comment: 'with source ranges -> list', key: service, value: mark },
    'reject-services': { comment: 'no endpoint anywhere', key: service },
    'reject-nodeports': { comment: 'no endpoint anywhere', key: nodePort },
    'drop-services': { comment: 'no endpoint here', key: service },
    'drop-nodeports': { comment: 'no endpoint here', key: nodePort },
    endpoints: {
      comment: 'Service address, slot -> endpoint',
      key: [...service, SLOT],
      value: target,
      hasCounters: true,
    },
    'nodeport-endpoints': {
      comment: 'node port, slot -> endpoint',
      key: [...nodePort, SLOT],
      value: target,
      hasCounters: true,
    },
    'affinity-slots': { comment: 'group, slot -> endpoint id', key: [MARK, SLOT], value: mark },
    'affinity-endpoints': {
      comment: 'group, endpoint id -> endpoint',
      key: [MARK, MARK],
      value: target,
      hasCounters: true,
    },
    'cluster-ips': { comment: 'every cluster IP', key: [destinationAddress(family)] },
    hairpin: {
      comment: 'endpoints of this node',
      key: [sourceAddress(family), destinationAddress(family)],
    },
    'allowed-sources': {
      comment: 'list, range that may ask',
      key: [MARK, sourceAddress(family)],
      isInterval: true,
    },
    'nodeport-ips': { comment: 'node ports are served on', key: [destinationAddress(family)] },
    classes: { comment: 'class -> what is done', key: mark, value: 'verdict' },
    'nodeport-classes': { comment: 'the same', key: mark, value: 'verdict' },
    'short-classes': { comment: 'the same', key: mark, value: 'verdict' },
    'nodeport-short-classes': { comment: 'the same', key: mark, value: 'verdict' },
    affinity: {
      comment: 'group, client -> endpoint id',
      key: [MARK, sourceAddress(family)],
      value: mark,
      dynamicSize: MOST_REMEMBERED_CLIENTS,
    },
  };
}

const DEFINITIONS = { ip: define('ip'), ip6: define('ip6') } as const;
