import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwarding } from '../forwarding/model.ts';
import { servicePortKey } from '../forwarding/model.ts';
import { Outstanding } from './outstanding.ts';
import type { Rejected } from './outstanding-entry.ts';

const LIMITS = { rows: 128, objects: Number.POSITIVE_INFINITY };

function row(namespace: string, service: string): Forwarding {
  return {
    id: { namespace, service, port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [],
    clusterEndpoints: [],
    localEndpoints: [],
    affinitySeconds: 0,
  };
}

function put(outstanding: Outstanding, namespace: string, service: string): void {
  const after = row(namespace, service);
  outstanding.change({ key: servicePortKey(after.id), before: undefined, after }, 0);
}

function flooded(count: number): Outstanding {
  const outstanding = new Outstanding({ monotonicMs: () => 0 });
  for (let index = 0; index < count; index++) put(outstanding, 'flood', `s${index}`);
  put(outstanding, 'quiet', 'only');
  return outstanding;
}

function rejected(retryAtMs: number, scope: Rejected['scope'] = 'row'): Rejected {
  return { scope, retryAtMs, last: { code: 'BAD', message: '', next: '', atMs: 0 } };
}

function rejectAll(outstanding: Outstanding, how: (index: number) => Rejected): void {
  [...outstanding.entries()].forEach((entry, index) => {
    outstanding.reject(entry, how(index));
  });
}

test('does not retry rows of one namespace before all of another', () => {
  const outstanding = flooded(3000);
  rejectAll(outstanding, () => rejected(100));
  const due = outstanding.takeDue('row', { nowMs: 100, limits: LIMITS });
  assert.equal(due.length, 128);
  const place = due.findIndex(({ id }) => id.namespace === 'quiet');
  assert.ok(place >= 0 && place < 8, `place ${place}`);
});

test('retries a rejected row at its time, and at once when it or everything changed', () => {
  const outstanding = flooded(3);
  rejectAll(outstanding, (index) => rejected(100 * (index + 1)));
  const dueAt = (nowMs: number): string[] =>
    outstanding.takeDue('row', { nowMs, limits: LIMITS }).map(({ id }) => id.service);
  assert.equal(outstanding.nextRetryAtMs(), 100);
  assert.deepEqual(dueAt(99), []);
  assert.deepEqual(dueAt(100), ['s0']);
  assert.equal(outstanding.nextRetryAtMs(), 0);
  for (const entry of outstanding.entries()) {
    if (entry.id.service === 's0') outstanding.acknowledge(entry);
  }
  assert.equal(outstanding.nextRetryAtMs(), 200);
  const changed = { ...row('flood', 's2'), affinitySeconds: 5 };
  outstanding.change({ key: 'flood/s2/TCP/IPv4', before: row('flood', 's2'), after: changed }, 101);
  assert.deepEqual(dueAt(101), ['s2']);
  outstanding.retryAll(102);
  assert.deepEqual(dueAt(102).sort(), ['only', 's1', 's2']);
});

test('counts pending, removed and rejected rows as they come and go', () => {
  const outstanding = flooded(2);
  const gone = row('flood', 'gone');
  const removal = { key: servicePortKey(gone.id), before: gone, after: undefined };
  outstanding.change(removal, 0);
  assert.deepEqual([outstanding.size, outstanding.unwrittenCount()], [4, 3]);
  rejectAll(outstanding, (index) => rejected(9, index % 2 ? 'plane' : 'row'));
  assert.deepEqual([outstanding.waitingCount('IPv4'), outstanding.failedCount], [2, 4]);
  assert.equal(outstanding.failing(3).length, 3);
  outstanding.change({ ...removal, before: undefined, after: gone }, 0);
  assert.deepEqual([outstanding.size, outstanding.unwrittenCount()], [3, 3]);
  rejectAll(outstanding, () => rejected(9));
  assert.deepEqual([outstanding.waitingCount('IPv4'), outstanding.failedCount], [0, 3]);
  for (const entry of [...outstanding.entries()]) outstanding.acknowledge(entry);
  assert.deepEqual([outstanding.size, outstanding.unwrittenCount()], [0, 0]);
  assert.equal(outstanding.nextRetryAtMs(), Number.POSITIVE_INFINITY);
});
