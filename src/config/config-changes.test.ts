import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareFields } from './config-changes.ts';
import type { ResolvedFields } from './layers.ts';
import { buildConfig } from './load-config.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

function fields(body: string): ResolvedFields {
  return buildConfig(new Map(), { path: 'f.yaml', text: HEAD + body }).fields;
}

test('marks for each difference whether it applies without a restart', () => {
  const before = fields('mode: nftables\nclusterCIDR: 10.0.0.0/8');
  const after = fields(
    [
      'mode: nftables',
      'clusterCIDR: 10.0.0.0/8,fd00::/8',
      'nftables: {syncPeriod: 1m, minSyncPeriod: 2s}',
      'ipvs: {strictARP: true}',
      'hostnameOverride: other',
    ].join('\n'),
  );
  assert.deepEqual(compareFields(before, after), [
    { path: 'clusterCIDR', before: '10.0.0.0/8', after: '10.0.0.0/8,fd00::/8', effect: 'live' },
    { path: 'nftables.syncPeriod', before: '30s', after: '1m0s', effect: 'live' },
    { path: 'nftables.minSyncPeriod', before: '1s', after: '2s', effect: 'none' },
    { path: 'ipvs.strictARP', before: false, after: true, effect: 'none' },
    { path: 'hostnameOverride', before: '', after: 'other', effect: 'restart' },
  ]);
});

test('lists the settings that depend on a change of mode, pending with it', () => {
  const before = fields('iptables: {masqueradeAll: true}');
  const after = fields(
    'mode: iptables\niptables: {masqueradeAll: true, syncPeriod: 1m}\nclusterCIDR: 10.0.0.0/8',
  );
  assert.deepEqual(
    compareFields(before, after).map(({ path, effect }) => [path, effect]),
    [
      ['mode', 'restart'],
      ['clusterCIDR', 'live'],
      ['nodePortAddresses', 'restart'],
      ['iptables.syncPeriod', 'restart'],
      ['nftables.masqueradeAll', 'none'],
    ],
  );
});

test('needs no restart when the running mode is named in another way', () => {
  const changes = compareFields(
    fields('mode: nftables'),
    fields('mode: iptables\nfairlead: {mode: nftables}'),
  );
  assert.deepEqual(
    changes.map(({ path, effect }) => [path, effect]),
    [
      ['mode', 'none'],
      ['fairlead.mode', 'none'],
    ],
  );
});

test('reports no change when the same values are written differently', () => {
  const before = fields('conntrack: {tcpCloseWaitTimeout: 60m}\nnodePortAddresses: null');
  const after = fields('# moved\nconntrack:\n  tcpCloseWaitTimeout: 1h0m0s\n');
  assert.deepEqual(compareFields(before, after), []);
});
