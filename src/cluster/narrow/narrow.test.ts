import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Kind } from '../object-kinds.ts';
import { readWatchEvent } from '../watch-event.ts';
import { Interner } from './interner.ts';
import { narrow, readKey, readResourceVersion } from './narrow.ts';

const KINDS: readonly Kind[] = ['service', 'slice', 'node', 'serviceCidr', 'namespace'];

function objectOf<K extends Kind>(kind: K, raw: unknown) {
  return narrow(kind, raw, new Interner())?.object;
}

/** As the API server of 1.37 writes it, without fields that are not read. */
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: '3a4b',
    resourceVersion: '4711',
    creationTimestamp: '2026-01-02T03:04:05Z',
    labels: {
      app: 'web',
      'fairlead.dev/ebpf': 'off',
      'service.kubernetes.io/service-proxy-name': 'other',
    },
    annotations: { 'fairlead.dev/ipvs-scheduler': 'mh,mh-port', other: 'not read' },
    managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
  },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.10',
    clusterIPs: ['10.96.0.10', 'fd00:96::10'],
    externalIPs: ['198.18.0.1', ''],
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 },
      { name: 'dns', protocol: 'UDP', port: 53, targetPort: 'dns' },
    ],
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Cluster',
    healthCheckNodePort: 31000,
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
  },
  status: {
    loadBalancer: {
      ingress: [{ ip: '198.18.0.2' }, { ip: '198.18.0.3', ipMode: 'Proxy' }, { hostname: 'x' }],
    },
  },
};

const SLICE = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'web-abc',
    namespace: 'shop',
    resourceVersion: '4712',
    labels: { 'kubernetes.io/service-name': 'web' },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-02T03:04:05.5Z' },
  },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }, { name: 'any' }],
  endpoints: [
    {
      addresses: ['10.128.0.1', '10.128.0.2'],
      conditions: { ready: false, serving: true, terminating: true },
      nodeName: 'node1',
      zone: 'a',
      hints: { forZones: [{ name: 'a' }, { name: 'b' }], forNodes: [{ name: 'node1' }] },
    },
    { addresses: ['10.128.0.3'] },
    { addresses: [] },
  ],
};

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'node1',
    labels: { 'topology.kubernetes.io/zone': 'a' },
    deletionTimestamp: '2026-01-02T03:04:05Z',
  },
  spec: { podCIDR: '10.128.0.0/24', taints: [{ key: 'ToBeDeleted', effect: 'NoSchedule' }] },
  status: {
    addresses: [
      { type: 'Hostname', address: 'node1' },
      { type: 'ExternalIP', address: '198.18.0.9' },
      { type: 'InternalIP', address: '172.30.1.1' },
    ],
  },
};

describe('narrow', () => {
  it('narrows a Service', () => {
    assert.deepEqual(narrow('service', SERVICE, new Interner()), {
      key: 'shop/web',
      resourceVersion: '4711',
      object: {
        namespace: 'shop',
        name: 'web',
        createdAtSeconds: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000,
        labels: { proxyName: 'other', ebpf: 'off' },
        type: 'LoadBalancer',
        clusterIPs: ['10.96.0.10', 'fd00:96::10'],
        externalIPs: ['198.18.0.1'],
        loadBalancerIPs: [
          { ip: '198.18.0.2', ipMode: 'VIP' },
          { ip: '198.18.0.3', ipMode: 'Proxy' },
        ],
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 },
          { name: 'dns', protocol: 'UDP', port: 53, nodePort: 0 },
        ],
        externalTrafficPolicy: 'Local',
        internalTrafficPolicy: 'Cluster',
        affinitySeconds: 60,
        healthCheckNodePort: 31000,
        ipvsScheduler: 'mh,mh-port',
      },
    });
  });

  it('narrows an EndpointSlice', () => {
    assert.deepEqual(objectOf('slice', SLICE), {
      namespace: 'shop',
      name: 'web-abc',
      service: 'web',
      headless: false,
      addressType: 'IPv4',
      triggeredAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 500),
      ports: [
        { name: 'http', protocol: 'TCP', port: 8080 },
        { name: 'any', protocol: 'TCP' },
      ],
      endpoints: [
        {
          address: '10.128.0.1',
          nodeName: 'node1',
          ready: false,
          serving: true,
          terminating: true,
          zoneHints: ['a', 'b'],
          nodeHints: ['node1'],
        },
        { address: '10.128.0.3', ready: true, serving: true, terminating: false },
      ],
    });
  });

  it('narrows a Node', () => {
    assert.deepEqual(objectOf('node', NODE), {
      name: 'node1',
      zone: 'a',
      addresses: ['172.30.1.1', '198.18.0.9'],
      podCIDRs: ['10.128.0.0/24'],
      deleting: true,
      taintKeys: ['ToBeDeleted'],
    });
  });

  it('narrows a ServiceCIDR', () => {
    const raw = { metadata: { name: 'main' }, spec: { cidrs: ['10.96.0.0/12'] } };
    assert.deepEqual(objectOf('serviceCidr', raw), { name: 'main', cidrs: ['10.96.0.0/12'] });
  });
});

it('fills in the defaults of the API', () => {
  const raw = {
    metadata: { name: 'a', namespace: 'b' },
    spec: { clusterIP: '10.96.0.1', sessionAffinity: 'ClientIP', ports: [{ port: 80 }] },
  };
  assert.deepEqual(objectOf('service', raw), {
    namespace: 'b',
    name: 'a',
    createdAtSeconds: 0,
    labels: {},
    type: 'ClusterIP',
    clusterIPs: ['10.96.0.1'],
    externalIPs: [],
    loadBalancerIPs: [],
    loadBalancerSourceRanges: [],
    ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 0 }],
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    affinitySeconds: 10_800,
    healthCheckNodePort: 0,
  });
});

it('omits unusable parts', () => {
  const raw = {
    metadata: { name: 'a', namespace: 'b' },
    spec: {
      clusterIPs: ['None'],
      ports: [{ port: 0 }, { port: 65_536 }, { port: 1.5 }, { port: '80' }, null, { port: 443 }],
    },
  };
  const object = objectOf('service', raw);
  assert.deepEqual(object?.clusterIPs, []);
  assert.deepEqual(
    object?.ports.map(({ port }) => port),
    [443],
  );
});

it('rejects names that would make keys ambiguous', () => {
  for (const [namespace, name] of [
    ['a', 'b/c'],
    ['a/b', 'c'],
    ['a', 'b:c'],
  ]) {
    const raw = { metadata: { name, namespace }, addressType: 'IPv4' };
    assert.equal(objectOf('service', raw), undefined);
    assert.equal(objectOf('slice', raw), undefined);
    assert.equal(readKey(raw, new Interner()), undefined);
  }
});

describe('narrow, invalid names', () => {
  const REJECTED: Readonly<Record<string, string>> = {
    'a quote that would end the comment of a rule': 'a" -j ACCEPT',
    'a line of its own in a log or in the input of iptables-restore': 'a\nCOMMIT',
    'an escape sequence for a terminal': 'a\x1b[2J',
    'a C1 control character': 'a\x9b2J',
    'text that is shown backwards': 'a\u202eb',
    'a character of no width': 'a\u200bb',
    'a line separator': 'a\u2028b',
    'half a character': 'a\ud800',
    'letters wider than one column': '宽宽宽',
    'the name of a prototype': '__proto__',
    'another path of the API': '..',
    'more letters than any name has': 'a'.repeat(254),
  };
  for (const [what, text] of Object.entries(REJECTED)) {
    it(`rejects ${what} as name, namespace and port name`, () => {
      const ofName = { metadata: { name: text, namespace: 'a' }, addressType: 'IPv4' };
      const ofNamespace = { metadata: { name: 'a', namespace: text }, addressType: 'IPv4' };
      for (const kind of KINDS) assert.equal(objectOf(kind, ofName), undefined, kind);
      for (const kind of KINDS) assert.equal(objectOf(kind, ofNamespace), undefined, kind);
      const ports = [{ name: text, port: 80 }];
      const ofPort = { metadata: { name: 'a', namespace: 'a' }, spec: { ports } };
      assert.equal(objectOf('service', ofPort), undefined);
    });
  }

  it('accepts every name that the API accepts', () => {
    for (const name of ['a', 'constructor', 'web-1', 'node1.example.com', `a${'b'.repeat(252)}`]) {
      const ports = [{ name, port: 80 }];
      const raw = { metadata: { name, namespace: name }, spec: { ports } };
      assert.equal(objectOf('service', raw)?.ports[0]?.name, name);
    }
  });
});

it('shares equal strings and lists', () => {
  const interner = new Interner();
  const [first, second] = [1, 2].map(
    () => narrow('slice', JSON.parse(JSON.stringify(SLICE)), interner)?.object,
  );
  assert.equal(first?.ports, second?.ports);
  assert.equal(first?.endpoints[0]?.zoneHints, second?.endpoints[0]?.zoneHints);
  const none = [1, 2].map((n) =>
    objectOf('service', { metadata: { name: `${n}`, namespace: 'b' } }),
  );
  assert.equal(none[0]?.ports, none[1]?.externalIPs);
});

it('clears shared names before they fill the memory', () => {
  const interner = new Interner(10);
  for (let i = 0; i < 1000; i++) {
    assert.equal(interner.text(`node${i}`), `node${i}`);
    assert.deepEqual(interner.list([`zone${i}`]), [`zone${i}`]);
  }
});

it('does not share strings longer than a name', () => {
  const interner = new Interner();
  const long = ['x'.repeat(5_000)];
  assert.deepEqual(interner.list(long), long);
  assert.notEqual(interner.list(long), interner.list(long));
  assert.equal(interner.text(long[0] ?? ''), long[0]);
});

describe('narrow, any input', () => {
  /** A real object in which any part may have become anything. */
  function mutated(value: unknown): fc.Arbitrary<unknown> {
    const inside = Array.isArray(value)
      ? fc.tuple(...value.map(mutated))
      : typeof value === 'object' && value !== null
        ? fc.record(
            Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mutated(part)])),
            { requiredKeys: [] },
          )
        : fc.constant(value);
    return fc.oneof({ weight: 30, arbitrary: inside }, { weight: 1, arbitrary: fc.jsonValue() });
  }

  it('narrows or rejects it, and never throws', () => {
    const raw = fc.oneof(...[SERVICE, SLICE, NODE].map(mutated), fc.jsonValue(), fc.anything());
    const interner = new Interner(50);
    fc.assert(
      fc.property(raw, (value) => {
        readKey(value, interner);
        readResourceVersion(value);
        for (const kind of KINDS) {
          const item = narrow(kind, value, interner);
          if (item !== undefined) assert.notEqual(item.key, '');
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('reads or rejects it as a line of a watch', () => {
    const event = fc.record({
      type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', 'OTHER'),
      object: fc.oneof(mutated(SERVICE), fc.jsonValue()),
    });
    const line = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      event.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
    );
    fc.assert(fc.property(line, (bytes) => void readWatchEvent(bytes)));
  });
});
