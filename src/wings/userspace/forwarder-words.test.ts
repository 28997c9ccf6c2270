import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Forwarding, Frontend, Outcome } from '../../forwarding/model.ts';
import { forwarderWords } from './forwarder-words.ts';

const KEPT: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
const OURS: Outcome = { action: 'forward', list: 'cluster', masquerade: true };
const HERE: Outcome = { action: 'forward', list: 'local', masquerade: false };

function frontend(address: string, outside: Outcome, port = 80): Frontend {
  const kind = address === '' ? 'node-port' : 'cluster-ip';
  return { kind, address, port, outcomes: { pod: KEPT, host: OURS, outside } };
}

function row(changed: Partial<Forwarding> & { readonly protocol?: 'TCP' | 'UDP' }): Forwarding {
  const { protocol = 'TCP', ...more } = changed;
  return {
    id: { namespace: 'shop', service: 'web', port: '', protocol, family: 'IPv4' },
    affinitySeconds: 0,
    frontends: [frontend('10.96.0.1', OURS)],
    clusterEndpoints: [],
    localEndpoints: [],
    ...more,
  } as Forwarding;
}

function told(row: Forwarding): string[] {
  return forwarderWords(row).map(({ about, text }) => `${about}: ${text}`);
}

describe('a connection in words', () => {
  it('names for each source who takes it, and which address the endpoint sees', () => {
    assert.deepEqual(told(row({})).slice(0, 3), [
      "from a pod: handed over to the forwarder; the endpoint sees the client's address",
      'from the node: handed over to the forwarder; the endpoint sees an address of this node',
      'from outside: handed over to the forwarder; the endpoint sees an address of this node',
    ]);
  });

  it('names the frontends where they differ, and only the first of many', () => {
    const many = Array.from({ length: 5 }, (_, n) => frontend(`192.0.2.${n}`, { action: 'drop' }));
    const text = told(row({ frontends: [...many, frontend('', HERE, 30_080)] }));
    assert.deepEqual(text.slice(2, 4), [
      'from outside: to 192.0.2.0:80, 192.0.2.1:80, 192.0.2.2:80 and 2 more: dropped by the kernel',
      ": to node port 30080: handed over to the forwarder, to an endpoint on this node; the endpoint sees the client's address",
    ]);
  });

  it('describes choice, retries and the kernel behind it', () => {
    const subjects = forwarderWords(row({ affinitySeconds: 600 })).map(({ about }) => about);
    assert.deepEqual(subjects.slice(3), ['choice', 'retries', 'source', 'without it']);
    assert.match(told(row({ affinitySeconds: 600 }))[3] ?? '', /had in the last 600 s; else,/);
  });

  it('promises no retries where there is one endpoint', () => {
    const clusterEndpoints = [{ address: '10.1.0.1', port: 80, local: false }];
    const subjects = forwarderWords(row({ clusterEndpoints })).map(({ about }) => about);
    assert.deepEqual(subjects.slice(3), ['choice', 'source', 'without it']);
  });

  it('says that UDP never reaches the forwarder', () => {
    assert.deepEqual(told(row({ protocol: 'UDP' })), [
      'forwarder: takes TCP only: UDP stays in the kernel, by the rules below',
    ]);
  });

  it('has no steps of the forwarder where nothing is forwarded', () => {
    const reject: Outcome = { action: 'reject' };
    const none = {
      ...frontend('10.96.0.1', reject),
      outcomes: { pod: reject, host: reject, outside: reject },
    };
    assert.deepEqual(told(row({ frontends: [none] })), [
      'from a pod: rejected by the kernel',
      'from the node: rejected by the kernel',
      'from outside: rejected by the kernel',
    ]);
  });
});
