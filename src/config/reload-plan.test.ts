import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldChange } from './config-changes.ts';
import { FIELD_PATHS, FIELDS, type FieldPath } from './fields/field-table.ts';
import { buildConfig, type LoadedConfig } from './load-config.ts';
import { planChange } from './reload-plan.ts';
import { isReadIn, validateFields } from './validate.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

function config(...lines: readonly string[]): LoadedConfig {
  return buildConfig(new Map(), { path: 'f.yaml', text: `${HEAD}${lines.join('\n')}\n` });
}

function paths(changes: readonly FieldChange[]): readonly string[] {
  return changes.map(({ path }) => path);
}

test('applies what needs no restart and keeps the rest as it runs', () => {
  const plan = planChange(
    config('mode: nftables', 'clusterCIDR: 10.0.0.0/8', 'hostnameOverride: one'),
    config('mode: nftables', 'clusterCIDR: 11.0.0.0/8', 'hostnameOverride: two'),
  );
  assert.deepEqual(paths(plan.live), ['clusterCIDR']);
  assert.deepEqual(paths(plan.restart), ['hostnameOverride']);
  const { localTraffic, nodeName } = plan.config.settings;
  assert.deepEqual(localTraffic, { by: 'ClusterCIDR', cidrs: ['11.0.0.0/8'] });
  assert.equal(nodeName, 'one');
});

test('keeps a pending change in the plan until it is reverted', () => {
  const first = config('hostnameOverride: one');
  const second = config('hostnameOverride: two');
  const waiting = planChange(first, second);
  const later = planChange(
    waiting.config,
    config('hostnameOverride: two', 'logging: {verbosity: 3}'),
  );
  assert.deepEqual(
    [paths(later.live), paths(later.restart)],
    [['logging.verbosity'], ['hostnameOverride']],
  );
  const back = planChange(later.config, config('hostnameOverride: one', 'logging: {verbosity: 3}'));
  assert.deepEqual([back.live, back.restart], [[], []]);
});

test('does not apply settings of the next mode to the running one', () => {
  const running = config('iptables: {masqueradeAll: true}');
  const wanted = config('mode: iptables', 'iptables: {masqueradeAll: true}', 'oomScoreAdj: -1');
  const plan = planChange(running, wanted);
  assert.ok(paths(plan.restart).includes('mode'));
  assert.deepEqual(plan.config.settings.masquerade, running.settings.masquerade);
  assert.deepEqual(plan.config.settings.nodePorts, running.settings.nodePorts);
  assert.equal(plan.config.settings.mode, 'nftables');
});

test('applies nothing that depends on the Node object while its absence is pending', () => {
  const node = config('mode: nftables');
  const machine = config('mode: nftables', 'fairlead: {nodeObject: none}');
  for (const [running, wanted] of [[node, machine] as const, [machine, node] as const]) {
    const plan = planChange(running, wanted);
    assert.deepEqual(plan.live, []);
    assert.ok(paths(plan.restart).includes('fairlead.nodeObject'));
    const { nodePorts, clients, servedAddresses } = running.settings;
    assert.deepEqual(plan.config.settings.nodePorts, nodePorts);
    assert.deepEqual(plan.config.settings.clients, clients);
    assert.deepEqual(plan.config.settings.servedAddresses, servedAddresses);
  }
});

test('applies clients and served addresses while running', () => {
  const block = (more: string) => config('mode: nftables', `fairlead: {nodeObject: none${more}}`);
  const plan = planChange(block(''), block(', clients: [docker0], servedAddresses: [externalIPs]'));
  assert.deepEqual(paths(plan.live), ['fairlead.clients', 'fairlead.servedAddresses']);
  assert.deepEqual(plan.config.settings.clients, ['docker0']);
});

const LINES: Readonly<Record<string, readonly string[]>> = {
  mode: ['mode: nftables', 'mode: iptables', 'mode: ipvs', ''],
  own: [
    'fairlead: {mode: userspace}',
    'fairlead: {mode: nftables}',
    'fairlead: {nodeObject: none}',
    'fairlead: {nodeObject: none, clients: [docker0]}',
    'fairlead: {zone: a, scope: {namespaces: [shop]}, serviceRanges: [10.96.0.0/12]}',
    '',
  ],
  ports: ['nodePortAddresses: [10.0.0.0/8]', ''],
  local: [
    'detectLocalMode: BridgeInterface\ndetectLocal: {bridgeInterface: br0}',
    'detectLocalMode: InterfaceNamePrefix\ndetectLocal: {interfaceNamePrefix: veth}',
    'clusterCIDR: 10.0.0.0/8',
    '',
  ],
  iptables: [
    'iptables: {masqueradeAll: true, masqueradeBit: 3, syncPeriod: 10s, minSyncPeriod: 10s}',
    'iptables: {syncPeriod: 2m, minSyncPeriod: 1m, localhostNodePorts: false}',
    '',
  ],
  nftables: [
    'nftables: {masqueradeBit: 5, syncPeriod: 10s, minSyncPeriod: 10s}',
    'nftables: {masqueradeAll: true, syncPeriod: 2m, minSyncPeriod: 1m}',
    '',
  ],
  ipvs: ['ipvs: {scheduler: lc, strictARP: true, syncPeriod: 10s, minSyncPeriod: 10s}', ''],
  process: ['hostnameOverride: other\nlogging: {verbosity: 5}', 'logging: {format: json}', ''],
};

/** The fields that a running Fairlead reads, besides those that name its mode. */
function inForce({ settings: { mode } }: LoadedConfig): readonly FieldPath[] {
  return FIELD_PATHS.filter(
    (path) => FIELDS[path].noEffect === undefined && isReadIn(mode, FIELDS[path]),
  ).filter((path) => path !== 'mode' && path !== 'fairlead.mode');
}

const anyConfig = fc
  .tuple(...Object.values(LINES).map((choices) => fc.constantFrom(...choices)))
  .map((lines) => config(...lines.filter((line) => line !== '')));

test('a plan always leads to a valid configuration with only pending changes left', () => {
  fc.assert(
    fc.property(anyConfig, anyConfig, (running, wanted) => {
      const plan = planChange(running, wanted);
      assert.deepEqual(validateFields(plan.config.fields), []);
      const { settings, fields } = plan.config;
      assert.equal(settings.mode, running.settings.mode);
      for (const { path } of plan.live) assert.equal(FIELDS[path].change, 'live');
      for (const { path } of plan.restart) assert.deepEqual(fields[path], running.fields[path]);
      const again = planChange(plan.config, wanted);
      assert.deepEqual([again.live, again.restart], [[], plan.restart]);
      assert.deepEqual(again.config.settings, settings);
      if (plan.restart.length === 0) assert.deepEqual(settings, wanted.settings);
      const followed = new Set<string>(paths(plan.live));
      for (const path of inForce(running)) {
        if (!followed.has(path)) assert.deepEqual(fields[path].value, running.fields[path].value);
      }
    }),
    { numRuns: 300 },
  );
});
