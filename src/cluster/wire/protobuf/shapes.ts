import type { Kind } from '../../object-kinds.ts';
import {
  boolean,
  bytes,
  integer,
  listOf,
  message,
  type Shape,
  shapeOf,
  text,
  texts,
  time,
} from './message-shape.ts';

/**
 * The numbers of the API's fields, as `generated.proto` of k8s.io/api and k8s.io/apimachinery gives
 * them. A field that the narrowing reads and that is missing here would count as absent: the two are
 * compared on a real API server by integration/tests/encodings.root.test.ts.
 */

/** Without the fields, which take most of an entry. */
const MANAGED_FIELDS = shapeOf({
  1: text('manager'),
  2: text('operation'),
  4: time('time'),
  8: text('subresource'),
});

const OBJECT_META = shapeOf({
  1: text('name'),
  3: text('namespace'),
  6: text('resourceVersion'),
  8: time('creationTimestamp'),
  9: time('deletionTimestamp'),
  11: texts('labels', [
    'fairlead.dev/ebpf',
    'kubernetes.io/service-name',
    'service.kubernetes.io/headless',
    'service.kubernetes.io/service-proxy-name',
    'topology.kubernetes.io/zone',
  ]),
  12: texts('annotations', [
    'fairlead.dev/ipvs-scheduler',
    'endpoints.kubernetes.io/last-change-trigger-time',
    'k8s.io/initial-events-end',
  ]),
  17: listOf(message('managedFields', MANAGED_FIELDS)),
});

const SERVICE_PORT = shapeOf({
  1: text('name'),
  2: text('protocol'),
  3: integer('port'),
  5: integer('nodePort'),
});

const SESSION_AFFINITY = shapeOf({
  1: message('clientIP', shapeOf({ 1: integer('timeoutSeconds') })),
});

const LOAD_BALANCER = shapeOf({
  1: listOf(message('ingress', shapeOf({ 1: text('ip'), 3: text('ipMode') }))),
});

const SERVICE = shapeOf({
  1: message('metadata', OBJECT_META),
  2: message(
    'spec',
    shapeOf({
      1: listOf(message('ports', SERVICE_PORT)),
      2: texts('selector', 'all'),
      3: text('clusterIP'),
      4: text('type'),
      5: listOf(text('externalIPs')),
      7: text('sessionAffinity'),
      9: listOf(text('loadBalancerSourceRanges')),
      11: text('externalTrafficPolicy'),
      12: integer('healthCheckNodePort'),
      14: message('sessionAffinityConfig', SESSION_AFFINITY),
      18: listOf(text('clusterIPs')),
      22: text('internalTrafficPolicy'),
    }),
  ),
  3: message('status', shapeOf({ 1: message('loadBalancer', LOAD_BALANCER) })),
});

const NAMED = shapeOf({ 1: text('name') });

const ENDPOINT = shapeOf({
  1: listOf(text('addresses')),
  2: message(
    'conditions',
    shapeOf({ 1: boolean('ready'), 2: boolean('serving'), 3: boolean('terminating') }),
  ),
  6: text('nodeName'),
  8: message(
    'hints',
    shapeOf({ 1: listOf(message('forZones', NAMED)), 2: listOf(message('forNodes', NAMED)) }),
  ),
});

const SLICE = shapeOf({
  1: message('metadata', OBJECT_META),
  2: listOf(message('endpoints', ENDPOINT)),
  3: listOf(
    message('ports', shapeOf({ 1: text('name'), 2: text('protocol'), 3: integer('port') })),
  ),
  4: text('addressType'),
});

const NODE = shapeOf({
  1: message('metadata', OBJECT_META),
  2: message(
    'spec',
    shapeOf({
      1: text('podCIDR'),
      5: listOf(message('taints', shapeOf({ 1: text('key') }))),
      7: listOf(text('podCIDRs')),
    }),
  ),
  3: message(
    'status',
    shapeOf({
      5: listOf(message('addresses', shapeOf({ 1: text('type'), 2: text('address') }))),
    }),
  ),
});

const SERVICE_CIDR = shapeOf({
  1: message('metadata', OBJECT_META),
  2: message('spec', shapeOf({ 1: listOf(text('cidrs')) })),
});

const NAMESPACE = shapeOf({ 1: message('metadata', OBJECT_META) });

export const OBJECT_SHAPES: Readonly<Record<Kind, Shape>> = {
  service: SERVICE,
  slice: SLICE,
  node: NODE,
  serviceCidr: SERVICE_CIDR,
  namespace: NAMESPACE,
};

export const LIST_SHAPES: Readonly<Record<Kind, Shape>> = {
  service: listShape(SERVICE),
  slice: listShape(SLICE),
  node: listShape(NODE),
  serviceCidr: listShape(SERVICE_CIDR),
  namespace: listShape(NAMESPACE),
};

function listShape(item: Shape): Shape {
  return shapeOf({
    1: message('metadata', shapeOf({ 2: text('resourceVersion'), 3: text('continue') })),
    2: listOf(message('items', item)),
  });
}

export const STATUS_SHAPE = shapeOf({
  3: text('message'),
  4: text('reason'),
  5: message('details', shapeOf({ 5: integer('retryAfterSeconds') })),
  6: integer('code'),
});

/** The envelope of every object. */
export const ENVELOPE_SHAPE = shapeOf({
  1: message('typeMeta', shapeOf({ 2: text('kind') })),
  2: bytes('raw'),
});

export const WATCH_EVENT_SHAPE = shapeOf({
  1: text('type'),
  2: message('object', shapeOf({ 1: bytes('raw') })),
});
