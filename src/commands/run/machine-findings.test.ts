import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sysctlsWith } from '../../doctor/testing/example-subject.ts';
import { machineFindings } from './machine-findings.ts';

const VALUES = {
  'net/ipv4/ip_forward': '0',
  'net/netfilter/nf_conntrack_count': '96',
  'net/netfilter/nf_conntrack_max': '100',
};

const found = async (values: Record<string, string | undefined>, isNode = true) => {
  const about = { sysctls: sysctlsWith(values), rows: [], isNode };
  return (await machineFindings(about)).map(({ code }) => code);
};

it('finds that the node does not forward, and that conntrack is full', async () => {
  assert.deepEqual(await found(VALUES), ['IP_FORWARD_OFF', 'CONNTRACK_FULL']);
  const healthy = { ...VALUES, 'net/ipv4/ip_forward': '1' };
  assert.deepEqual(await found({ ...healthy, 'net/netfilter/nf_conntrack_count': '7' }), []);
});

it('does not ask a machine outside of the cluster to forward', async () => {
  assert.deepEqual(await found(VALUES, false), ['CONNTRACK_FULL']);
});

it('is silent about settings that the kernel does not have', async () => {
  const none = Object.fromEntries(Object.keys(VALUES).map((name) => [name, undefined]));
  assert.deepEqual(await found(none), []);
});
