import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELDS } from '../fields/field-table.ts';
import { FLAG_NAMES, fieldFlag, isFieldFlag, startFlag } from './flag-table.ts';

/** Every flag that kube-proxy 1.37.1 prints at its start, help apart. */
const KUBE_PROXY_FLAGS = `
  bind-address bind-address-hard-fail cleanup cluster-cidr config config-sync-period
  conntrack-max-per-core conntrack-min conntrack-tcp-be-liberal conntrack-tcp-timeout-close-wait
  conntrack-tcp-timeout-established conntrack-udp-timeout conntrack-udp-timeout-stream
  detect-local-mode feature-gates healthz-bind-address healthz-port hostname-override init-only
  iptables-localhost-nodeports iptables-masquerade-bit iptables-min-sync-period
  iptables-sync-period ipvs-exclude-cidrs ipvs-min-sync-period ipvs-scheduler ipvs-strict-arp
  ipvs-sync-period ipvs-tcp-timeout ipvs-tcpfin-timeout ipvs-udp-timeout kube-api-burst
  kube-api-content-type kube-api-qps kubeconfig log-flush-frequency log-json-info-buffer-size
  log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format
  masquerade-all master metrics-bind-address metrics-port nodeport-addresses
  oom-score-adj pod-bridge-interface pod-interface-name-prefix profiling proxy-mode
  show-hidden-metrics-for-version v version vmodule write-config-to
`
  .trim()
  .split(/\s+/);

/** Flags of kube-proxy 1.36: a command line that has them still starts. */
const GONE_FLAGS = ['boot-id-file', 'machine-id-file'] as const;

test('has every flag of kube-proxy, and otherwise only those of the previous release', () => {
  assert.deepEqual([...FLAG_NAMES].sort(), [...KUBE_PROXY_FLAGS, ...GONE_FLAGS].sort());
  for (const name of GONE_FLAGS) assert.match(startFlag(name).noEffect ?? '', /kube-proxy 1\.37/);
});

test('maps a flag to several fields only if they are of one kind', () => {
  for (const name of FLAG_NAMES.filter(isFieldFlag)) {
    const kinds = new Set(fieldFlag(name).sets.map((path) => FIELDS[path].kind));
    assert.equal(kinds.size, 1, name);
  }
});
