import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { NamespaceObject, ServiceObject, SliceObject } from '../cluster/objects.ts';
import type { Contents } from './contents.ts';
import { API_SERVER } from './external-ips.ts';
import type { HostSocket, HostState } from './host-ports.ts';
import {
  type AddressRules,
  FAMILIES,
  type Forwarding,
  type FrontendKind,
  type NodeView,
} from './model.ts';
import { NOT_SERVED_REASONS } from './not-served.ts';
import { ForwardingTable } from './table.ts';
import { elsewhere, endpoint, service, slice, view } from './testing/example-objects.ts';

/** Few addresses and ports, so that nearly every Service wants what another one has. */
const ADDRESSES = ['10.96.0.1', '10.96.0.9', '198.51.100.1', '172.30.1.1', 'fd00:96::1', 'fd00::1'];
const PORTS = [80, 443];
const NODE_PORTS = [0, 80, 443];
const NAMES = ['ns/a', 'ns/b', 'ns/c', 'other/d', API_SERVER];

/** More than a small Service has, so that what it was compiled from is kept. */
const MANY = Array.from({ length: 20 }, (_, i) => `198.51.101.${i}`);

/** Each of them is about two milliseconds. */
const RUNS = 2000;

const NAME = fc.constantFrom(...NAMES);
const ADDRESS = fc.constantFrom(...ADDRESSES);
const PORT = fc.constantFrom(...PORTS);
const PROTOCOL = fc.constantFrom('TCP' as const, 'UDP' as const);
const POLICY = fc.constantFrom('Cluster' as const, 'Local' as const);

const SERVICE = fc
  .record({
    at: NAME,
    createdAtSeconds: fc.nat(2),
    labels: fc.constantFrom<ServiceObject['labels']>(
      {},
      {},
      {},
      { ebpf: 'off' },
      { proxyName: 'x' },
    ),
    type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
    clusterIPs: fc.uniqueArray(ADDRESS, { minLength: 1, maxLength: 3 }),
    few: fc.uniqueArray(ADDRESS, { maxLength: 3 }),
    isLarge: fc.boolean(),
    loadBalancerIPs: fc.array(
      fc.record({ ip: ADDRESS, ipMode: fc.constantFrom('VIP' as const, 'Proxy' as const) }),
      { maxLength: 2 },
    ),
    ports: fc
      .array(
        fc.record({ protocol: PROTOCOL, port: PORT, nodePort: fc.constantFrom(...NODE_PORTS) }),
        { minLength: 1, maxLength: 3 },
      )
      .map((ports) => ports.map((port, index) => ({ name: `p${index}`, ...port }))),
    externalTrafficPolicy: POLICY,
    internalTrafficPolicy: POLICY,
    affinitySeconds: fc.constantFrom(0, 60),
    healthCheckNodePort: fc.constantFrom(0, 32000),
  })
  .map(({ at, few, isLarge, ...more }) =>
    service({ ...named(at), ...more, externalIPs: isLarge ? [...few, ...MANY] : few }),
  );

const SLICE = fc
  .record({
    at: NAME,
    name: fc.constantFrom('s0', 's1'),
    endpoints: fc.array(
      fc.record({ address: ADDRESS, isHere: fc.boolean(), zone: fc.constantFrom('a', 'b', '') }),
      { maxLength: 3 },
    ),
    ports: fc.array(
      fc.record({ name: fc.constantFrom('p0', 'p1'), protocol: PROTOCOL, port: PORT }),
      { maxLength: 2 },
    ),
    addressType: fc.constantFrom(...FAMILIES),
  })
  .map(({ at, endpoints, ...more }): SliceObject => {
    const { namespace, name } = named(at);
    const all = endpoints.map(({ address, isHere, zone }) =>
      (isHere ? endpoint : elsewhere)(address, zone === '' ? {} : { zoneHints: [zone] }),
    );
    return slice(all, { namespace, service: name, ...more });
  });

/** Where the API server listens. */
const API_SERVER_SLICE = fc.record({ address: ADDRESS, port: PORT }).map(({ address, port }) =>
  slice([endpoint(address)], {
    ...named(API_SERVER),
    service: named(API_SERVER).name,
    name: 's0',
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    ports: [{ name: 'https', protocol: 'TCP', port }],
  }),
);

const VIEW: fc.Arbitrary<NodeView> = fc
  .record({
    zone: fc.constantFrom('a', 'b'),
    addressRules: fc.constantFrom<AddressRules>('strict', 'strict', 'kube-proxy'),
    serviceRanges: fc.constantFrom<readonly string[]>([], ['10.96.0.0/16'], ['fd00:96::/108']),
    limits: fc.constantFrom({}, {}, { onlyServiceRanges: true } as const),
    allowExternalIPs: fc.constantFrom(true, true, false),
    unserved: fc.constantFrom<readonly FrontendKind[]>([], [], ['node-port', 'load-balancer-ip']),
  })
  .map(({ limits, ...more }) => view({ ...more, ...limits }));

const SOCKET: fc.Arbitrary<HostSocket> = fc.record({
  family: fc.constantFrom(...FAMILIES),
  protocol: PROTOCOL,
  address: fc.constantFrom('', '', ...ADDRESSES),
  port: PORT,
});
const HOST_ADDRESSES = fc.uniqueArray(fc.constantFrom(...ADDRESSES, ...MANY.slice(0, 1)), {
  maxLength: 4,
});
const NAMESPACE: fc.Arbitrary<NamespaceObject> = fc
  .record({ name: fc.constantFrom('ns', 'other'), ebpf: fc.constantFrom(undefined, 'on', 'off') })
  .map(({ name, ebpf }) => (ebpf === undefined ? { name } : { name, ebpf: ebpf as 'on' | 'off' }));

const STEP = fc.oneof(
  { weight: 6, arbitrary: fc.record({ service: SERVICE }) },
  { weight: 1, arbitrary: fc.record({ noService: NAME }) },
  { weight: 2, arbitrary: fc.record({ slice: SLICE }) },
  { weight: 2, arbitrary: fc.record({ slice: API_SERVER_SLICE }) },
  { weight: 1, arbitrary: fc.record({ noSlice: NAME, name: fc.constantFrom('s0', 's1') }) },
  { weight: 1, arbitrary: fc.record({ view: VIEW }) },
  { weight: 2, arbitrary: fc.record({ addresses: HOST_ADDRESSES }) },
  { weight: 2, arbitrary: fc.record({ sockets: fc.array(SOCKET, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ namespace: NAMESPACE }) },
  { weight: 3, arbitrary: fc.record({ takeAtMost: fc.constantFrom(1, 20, Infinity) }) },
  { weight: 1, arbitrary: fc.record({ read: NAME }) },
);

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

/** The last state of every object: the input of a table that starts now. */
class Told {
  readonly services = new Map<string, ServiceObject>();
  readonly slices = new Map<string, SliceObject>();
  readonly namespaces = new Map<string, NamespaceObject>();
  view = view();
  host: HostState = { addresses: [], sockets: [] };

  take(step: Step): void {
    if ('service' in step) this.services.set(nameOf(step.service), step.service);
    else if ('noService' in step) this.services.delete(step.noService);
    else if ('slice' in step) this.slices.set(nameOf(step.slice), step.slice);
    else if ('noSlice' in step) this.slices.delete(sliceKey(step.noSlice, step.name));
    else if ('view' in step) this.view = step.view;
    else if ('addresses' in step || 'sockets' in step) this.host = { ...this.host, ...step };
    else if ('namespace' in step) this.namespaces.set(step.namespace.name, step.namespace);
  }

  table(): ForwardingTable {
    const made = new ForwardingTable(this.view);
    made.setHost(this.host);
    for (const each of this.namespaces.values()) made.putNamespace(each);
    for (const each of this.slices.values()) made.putSlice(each);
    for (const each of this.services.values()) made.putService(each);
    return made;
  }
}

function takeInto(table: ForwardingTable, step: Step, { host }: Told): void {
  if ('service' in step) table.putService(step.service);
  else if ('noService' in step) table.deleteService(step.noService);
  else if ('slice' in step) table.putSlice(step.slice);
  else if ('noSlice' in step) table.deleteSlice(sliceKey(step.noSlice, step.name));
  else if ('view' in step) table.setView(step.view);
  else if ('addresses' in step || 'sockets' in step) table.setHost(host);
  else if ('namespace' in step) table.putNamespace(step.namespace);
  else if ('read' in step) table.ofService(step.read);
}

describe('ForwardingTable', () => {
  it('has the same rows after any changes as a table built from the final state', () => {
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 10, maxLength: 40 }), (steps) => {
        const told = new Told();
        const table = told.table();
        const followed = new Map<string, Forwarding>();
        const versions = new Map<number, unknown>();
        for (const step of steps) {
          told.take(step);
          takeInto(table, step, told);
          if ('takeAtMost' in step) follow(table, followed, step.takeAtMost);
          if (table.hasChanges) continue;
          const { frontendsVersion: version } = table.contents;
          if (!versions.has(version)) versions.set(version, frontendsIn(rowsOf(table)));
          assert.deepEqual(frontendsIn(rowsOf(table)), versions.get(version));
        }
        while (table.hasChanges) follow(table, followed, 20);
        const fresh = told.table();
        const expected = new Map<string, Forwarding>();
        follow(fresh, expected, Number.POSITIVE_INFINITY);
        assert.deepEqual(sorted(followed), sorted(expected));
        assert.deepEqual(rowsOf(table), rowsOf(fresh));
        assert.deepEqual(table.notServed.counts(), fresh.notServed.counts());
        assert.deepEqual(table.notServed.counts(), countedIn(rowsOf(fresh)));
        assert.deepEqual(table.notServed.first(1000), fresh.notServed.first(1000));
        assert.deepEqual(nodePortOwners(table), nodePortOwners(fresh));
        assert.deepEqual(table.contents.counts, fresh.contents.counts);
        assert.deepEqual(sizesOf(table.contents.counts), sizesIn(rowsOf(fresh)));
      }),
      { numRuns: RUNS },
    );
  });
});

/** The state of a data plane that applies every change. */
function follow(table: ForwardingTable, rows: Map<string, Forwarding>, most: number): void {
  for (const { key, before, after } of table.takeChanges(most)) {
    assert.deepEqual(rows.get(key), before);
    if (after === undefined) rows.delete(key);
    else rows.set(key, after);
  }
}

function rowsOf(table: ForwardingTable): Record<string, readonly Forwarding[]> {
  return Object.fromEntries(table.serviceNames().map((name) => [name, table.ofService(name)]));
}

function countedIn(rows: Record<string, readonly Forwarding[]>): Record<string, number> {
  const counts = Object.fromEntries(NOT_SERVED_REASONS.map((reason) => [reason, 0]));
  for (const { frontends } of Object.values(rows).flat()) {
    for (const { notServed } of frontends) {
      if (notServed) counts[notServed.reason] = (counts[notServed.reason] ?? 0) + 1;
    }
  }
  return counts;
}

function frontendsIn(rows: Record<string, readonly Forwarding[]>): unknown {
  return Object.values(rows).flatMap((own) => own.map(({ id, frontends }) => ({ id, frontends })));
}

type Sizes = Pick<Contents, 'services' | 'frontends' | 'endpoints'>;

function sizesOf({ services, frontends, endpoints }: Contents): Sizes {
  return { services, frontends, endpoints };
}

function sizesIn(rows: Record<string, readonly Forwarding[]>): Sizes {
  const all = Object.values(rows).flat();
  const served = all.flatMap(({ frontends }) => frontends.filter((each) => !each.notServed));
  return {
    services: Object.values(rows).filter(({ length }) => length > 0).length,
    frontends: served.length,
    endpoints: all.flatMap(({ clusterEndpoints }) => clusterEndpoints).length,
  };
}

function nodePortOwners(table: ForwardingTable): (string | undefined)[] {
  return FAMILIES.flatMap((family) =>
    (['TCP', 'UDP'] as const).flatMap((protocol) =>
      PORTS.map((port) => table.nodePortOwner({ family, protocol, port })),
    ),
  );
}

function sorted(rows: ReadonlyMap<string, Forwarding>): [string, Forwarding][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

function named(text: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}

function nameOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}

function sliceKey(ofService: string, name: string): string {
  return nameOf({ namespace: named(ofService).namespace, name });
}
