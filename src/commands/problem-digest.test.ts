import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejection } from '../cluster/api-rejection.ts';
import { ClusterError } from '../cluster/cluster-error.ts';
import { needsPerson, problemDigest, REPEAT_AFTER_MS } from './problem-digest.ts';

function stage() {
  const told: string[] = [];
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const listen = problemDigest(clock, ({ text, count }) => void told.push(`${count}x ${text}`));
  return { told, clock, listen };
}

const lost = (text: string) => new ClusterError('CLUSTER_CONNECTION_LOST', text, { next: '' });
const rejected = (path: string, code: number) =>
  rejection(`watch ${path}`, { code, reason: 'R', message: 'R', retryAfterMs: undefined });

describe('a digest of problems', () => {
  it('reports once what four watches encounter at the same time', () => {
    const { told, listen } = stage();
    for (const path of ['services', 'slices', 'nodes', 'serviceCidrs']) {
      listen(rejected(path, 401));
      listen(lost(`after ${path.length} ms`));
    }
    assert.deepEqual(told, ['1x the API server responded 401 R', '1x after 8 ms']);
  });

  it('reports a persistent problem once a minute, with a count', () => {
    const { told, clock, listen } = stage();
    for (clock.nowMs = 0; clock.nowMs <= REPEAT_AFTER_MS; clock.nowMs += 1000) {
      listen(rejected('services', 401));
    }
    assert.deepEqual(told, [
      '1x the API server responded 401 R',
      '60x the API server responded 401 R',
    ]);
  });

  it('reports another reason immediately, with the resource where it matters', () => {
    const { told, listen } = stage();
    for (const path of ['services', 'slices', 'services']) listen(rejected(path, 403));
    listen(lost('gone'));
    assert.deepEqual(told, [
      '1x watch services: the API server responded 403 R',
      '1x watch slices: the API server responded 403 R',
      '1x gone',
    ]);
  });

  it('forgets a problem that has not occurred for long', () => {
    const { told, clock, listen } = stage();
    listen(lost('gone'));
    clock.nowMs = 5 * REPEAT_AFTER_MS;
    listen(lost('gone'));
    assert.deepEqual(told, ['1x gone', '1x gone']);
  });
});

it('needs a person for credentials and certificates, not for a lost connection', () => {
  assert.equal(needsPerson(rejected('services', 401)), true);
  assert.equal(needsPerson(rejected('services', 403)), true);
  assert.equal(needsPerson(new ClusterError('CLUSTER_TLS', '', { next: '' })), true);
  assert.equal(needsPerson(rejected('services', 500)), false);
  assert.equal(needsPerson(lost('gone')), false);
});
