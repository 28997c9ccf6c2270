import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePortSettings } from '../config/settings.ts';
import type { AgentSettings } from './agent-settings.ts';
import { type NodeInput, nodeFacts, nodeView } from './node-facts.ts';
import { NO_NEEDS, NODE, SETTINGS } from './testing/agent-stage.ts';

function input(settings: Partial<AgentSettings> = {}, more: Partial<NodeInput> = {}): NodeInput {
  return {
    settings: { ...SETTINGS, ...settings },
    needs: NO_NEEDS,
    nodeName: 'here',
    node: NODE,
    machineAddresses: [],
    serviceRanges: [],
    ...more,
  };
}

test('detects pods by the first range of each family', () => {
  const cidrs = ['10.244.3.7/16', '10.9.0.0/16', 'fd00:244::/56'];
  const { podDetection } = nodeFacts(input({ localTraffic: { by: 'ClusterCIDR', cidrs } }));
  assert.deepEqual(podDetection, {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'cidr', cidr: 'fd00:244::/56' },
  });
});

test('has the addresses of the machine for a mode that needs them, without IPv6 link-local ones', () => {
  const machineAddresses = ['fe80::1', '10.96.0.10', '169.254.20.10', '127.0.0.1', 'fd00:0:0::a'];
  const facts = (needs: NodeInput['needs']) => nodeFacts(input({}, { needs, machineAddresses }));
  const own = ['10.96.0.10', '127.0.0.1', '169.254.20.10', 'fd00::a'];
  assert.deepEqual(facts({ ...NO_NEEDS, ownAddresses: true }).ownAddresses, own);
  assert.equal(facts(NO_NEEDS).ownAddresses, undefined);
});

test('cannot detect pods in a family without a range', () => {
  const of = input({ localTraffic: { by: 'ClusterCIDR', cidrs: ['10.0.0.0/8'] } });
  assert.equal(nodeFacts(of).podDetection.IPv6, undefined);
  assert.deepEqual(nodeView(of).detectsPods, { IPv4: true, IPv6: false });
});

test('takes the ranges of the node from its object, and has none without it', () => {
  const localTraffic = { by: 'NodeCIDR' } as const;
  const known = nodeFacts(input({ localTraffic }));
  assert.deepEqual(known.podDetection.IPv4, { by: 'cidr', cidr: '10.1.0.0/24' });
  const unknown = input({ localTraffic }, { node: undefined });
  assert.deepEqual(nodeView(unknown).detectsPods, { IPv4: false, IPv6: false });
});

test('detects pods by interface in both families', () => {
  const bridge = { by: 'BridgeInterface', interfaceName: 'cni0' } as const;
  assert.deepEqual(nodeFacts(input({ localTraffic: bridge })).podDetection.IPv6, {
    by: 'interface',
    name: 'cni0',
  });
  const prefix = { by: 'InterfaceNamePrefix', prefix: 'veth' } as const;
  assert.deepEqual(nodeFacts(input({ localTraffic: prefix })).podDetection.IPv4, {
    by: 'interface-prefix',
    prefix: 'veth',
  });
});

test('takes the first node IP and the first of the other family; a configured one wins', () => {
  const addresses = ['172.30.1.1', '172.30.1.2', 'fd00:30::1', '198.51.100.1'];
  const node = { ...NODE, addresses };
  assert.deepEqual(nodeView(input({}, { node })).nodeIPs, ['172.30.1.1', 'fd00:30::1']);
  const configured = input({ nodeAddress: 'FD00::5' }, { node });
  assert.deepEqual(nodeView(configured).nodeIPs, ['fd00::5', '172.30.1.1']);
  assert.deepEqual(nodeView(input({}, { node: undefined })).nodeIPs, []);
});

test('serves node ports on the primary addresses, or on all of a family that has none', () => {
  const nodePorts = { addresses: ['primary'], onLocalhost: false };
  const node = { ...NODE, addresses: ['172.30.1.1'] };
  assert.deepEqual(nodeFacts(input({ nodePorts }, { node })).nodePortAddresses, {
    IPv4: ['172.30.1.1'],
    IPv6: 'all',
  });
  const loopback = { ...NODE, addresses: ['127.0.0.1', '::1'] };
  assert.deepEqual(nodeFacts(input({ nodePorts }, { node: loopback })).nodePortAddresses, {
    IPv4: 'all',
    IPv6: 'all',
  });
});

test('serves node ports on addresses of the machine within the ranges, without loopback', () => {
  const machineAddresses = ['192.0.2.9', '127.0.0.1', '192.0.2.1', '10.0.0.1', 'fe80::1', '::1'];
  const within = (...addresses: string[]): unknown =>
    nodeFacts(input({ nodePorts: { addresses, onLocalhost: false } }, { machineAddresses }))
      .nodePortAddresses;
  assert.deepEqual(within('192.0.2.0/24', '127.0.0.0/8'), {
    IPv4: ['192.0.2.1', '192.0.2.9'],
    IPv6: 'all',
  });
  assert.deepEqual(within('fe80::/10', '::1/128'), { IPv4: 'all', IPv6: ['fe80::1'] });
  assert.deepEqual(within('203.0.113.0/24', '::/0'), { IPv4: [], IPv6: 'all' });
});

test('combines keywords with ranges for each family', () => {
  const machineAddresses = ['172.30.1.1', '192.0.2.9', '127.0.0.1', 'fd00::9', '::1'];
  const node = { ...NODE, addresses: ['172.30.1.1'] };
  const served = (addresses: readonly string[], onLocalhost = false): unknown =>
    nodeFacts(input({ nodePorts: { addresses, onLocalhost } }, { machineAddresses, node }))
      .nodePortAddresses;
  assert.deepEqual(served(['primary', '192.0.2.0/24']), {
    IPv4: ['172.30.1.1', '192.0.2.9'],
    IPv6: 'all',
  });
  const localhost = ['127.0.0.0/8', '::1/128'];
  assert.deepEqual(served(localhost), { IPv4: [], IPv6: [] });
  assert.deepEqual(served(localhost, true), { IPv4: ['127.0.0.1'], IPv6: [] });
  assert.deepEqual(served(['primary', ...localhost], true), {
    IPv4: ['127.0.0.1', '172.30.1.1'],
    IPv6: [],
  });
  assert.deepEqual(served(['primary', '0.0.0.0/0', 'fd00::/8']), {
    IPv4: 'all',
    IPv6: ['fd00::9'],
  });
});

test('has the configured families whose loopback is relayed', () => {
  assert.equal(nodeFacts(input()).relayedLocalhost, undefined);
  const nodePorts = {
    addresses: 'all',
    onLocalhost: false,
    relayedLocalhost: ['IPv6'],
  } as const;
  assert.deepEqual(nodeFacts(input({ nodePorts })).relayedLocalhost, ['IPv6']);
});

test('sorts service ranges, without those inside others and invalid ones', () => {
  const serviceRanges = ['fd00:96::/108', '10.96.0.0/12', '10.100.0.0/24', '10.96.0.0/12', 'x'];
  assert.deepEqual(nodeFacts(input({}, { serviceRanges })).serviceRanges, [
    '10.96.0.0/12',
    'fd00:96::/108',
  ]);
});

test('has a mark of one bit, also the highest', () => {
  const mark = (markBit: number): number =>
    nodeFacts(input({ masquerade: { all: false, markBit } })).masqueradeMark;
  assert.equal(mark(14), 0x4000);
  assert.equal(mark(31), 0x80000000);
});

test('serves node ports only on configured addresses without a Node object', () => {
  const addressesFor = (
    addresses: NodePortSettings['addresses'],
    more: Partial<AgentSettings> = {},
  ) =>
    nodeFacts(
      input(
        { nodeObject: 'none', nodePorts: { addresses, onLocalhost: false }, ...more },
        { node: undefined, machineAddresses: ['192.0.2.9', 'fd00::9'] },
      ),
    ).nodePortAddresses;
  assert.deepEqual(addressesFor('none'), { IPv4: [], IPv6: [] });
  assert.deepEqual(addressesFor(['primary']), { IPv4: [], IPv6: [] });
  assert.deepEqual(addressesFor(['primary'], { nodeAddress: '192.0.2.9' }), {
    IPv4: ['192.0.2.9'],
    IPv6: [],
  });
  assert.deepEqual(addressesFor(['192.0.2.0/24']), { IPv4: ['192.0.2.9'], IPv6: [] });
  assert.deepEqual(addressesFor(['0.0.0.0/0']), { IPv4: 'all', IPv6: [] });
});

test('passes the kinds of addresses that are not served to the model', () => {
  assert.equal(nodeView(input()).unserved, undefined);
  const view = nodeView(
    input({
      nodePorts: { addresses: 'none', onLocalhost: false },
      servedAddresses: { allClusterIPs: true, externalIPs: false, loadBalancerIPs: false },
    }),
  );
  assert.equal(view.allowExternalIPs, false);
  assert.deepEqual(view.unserved, ['external-ip', 'load-balancer-ip', 'node-port']);
});

test('sorts client interfaces without duplicates; has none for all clients', () => {
  assert.equal(nodeFacts(input()).clientInterfaces, undefined);
  assert.deepEqual(nodeFacts(input({ clients: [] })).clientInterfaces, []);
  assert.deepEqual(nodeFacts(input({ clients: ['docker0', 'br-*', 'docker0'] })).clientInterfaces, [
    'br-*',
    'docker0',
  ]);
});

test('has no local endpoints without a Node object', () => {
  assert.equal('isNode' in nodeView(input()), false);
  assert.equal(nodeView(input({ nodeObject: 'none' }, { node: undefined })).isNode, false);
});

test('prefers the configured zone to that of the Node object', () => {
  assert.equal(nodeView(input()).zone, NODE.zone);
  assert.equal(nodeView(input({ zone: 'zone-z' })).zone, 'zone-z');
  assert.equal(nodeView(input({ zone: 'zone-z' }, { node: undefined })).zone, 'zone-z');
});

test('uses configured Service ranges instead of those of objects', () => {
  const of = input({ serviceRanges: ['10.96.0.0/12'] }, { serviceRanges: ['10.0.0.0/8'] });
  assert.deepEqual(nodeFacts(of).serviceRanges, ['10.96.0.0/12']);
  assert.deepEqual(nodeView(of).serviceRanges, ['10.96.0.0/12']);
});

test('takes no Service ranges from objects without a Node object', () => {
  const served = { externalIPs: false, loadBalancerIPs: false };
  const machine = (allClusterIPs: boolean, more: Partial<AgentSettings> = {}) =>
    input(
      { nodeObject: 'none', servedAddresses: { ...served, allClusterIPs }, ...more },
      { node: undefined, serviceRanges: ['8.8.8.0/24'] },
    );
  assert.deepEqual(nodeFacts(machine(false)).serviceRanges, []);
  assert.deepEqual(nodeView(machine(false)).serviceRanges, []);
  assert.equal(nodeView(machine(false)).onlyServiceRanges, true);
  const configured = machine(false, { serviceRanges: ['10.96.0.0/12'] });
  assert.deepEqual(nodeFacts(configured).serviceRanges, ['10.96.0.0/12']);
  assert.deepEqual(nodeView(configured).serviceRanges, ['10.96.0.0/12']);
  assert.deepEqual(nodeFacts(machine(true)).serviceRanges, ['8.8.8.0/24']);
  assert.equal('onlyServiceRanges' in nodeView(machine(true)), false);
  assert.equal('onlyServiceRanges' in nodeView(input()), false);
});

test('tells planes that a scope does not have every Service', () => {
  assert.equal('knowsEveryService' in nodeFacts(input()), false);
  const scope = { namespaces: ['shop'], services: [] };
  assert.equal(nodeFacts(input({ scope })).knowsEveryService, false);
});

test('leaves the DNS of the cluster to packets in eBPF modes without a Node object', () => {
  const clusterDns = ['10.96.0.10', 'FD00:96::000a'];
  const needs = { ...NO_NEEDS, namespaces: true };
  const leftBy = (settings: Parameters<typeof input>[0]) =>
    nodeView(input(settings, { needs })).leftToPackets;
  assert.deepEqual(leftBy({ nodeObject: 'none', clusterDns }), ['10.96.0.10', 'fd00:96::a']);
  assert.equal(leftBy({ clusterDns }), undefined);
  assert.equal(leftBy({ nodeObject: 'none' }), undefined);
  assert.equal(nodeView(input({ nodeObject: 'none', clusterDns })).leftToPackets, undefined);
});
