import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterError, type ClusterErrorCode } from '../../cluster/cluster-error.ts';
import type { ProblemListener, Source } from '../../cluster/source.ts';
import { FailFastSource } from './fail-fast-source.ts';
import { waitForSource } from './wait-for-source.ts';

function stage() {
  const told: string[] = [];
  let tell: ProblemListener = () => undefined;
  const silent: Source = { run: async () => undefined, health: () => [] };
  const source = new FailFastSource(
    (onProblem) => {
      tell = onProblem;
      return silent;
    },
    ({ message }) => void told.push(message),
  );
  const problem = (code: ClusterErrorCode, kind: 'service' | 'slice' = 'service') =>
    tell(new ClusterError(code, 'a reason', { next: 'a remedy', cause: new Error('below') }), kind);
  return { told, source, problem };
}

const FOREVER = new Promise<void>(() => undefined);

describe('FailFastSource', () => {
  it('fails when a permanent problem occurs twice', async () => {
    const { told, source, problem } = stage();
    const waiting = waitForSource(FOREVER, source);
    problem('CLUSTER_TLS');
    problem('CLUSTER_TLS', 'slice');
    problem('CLUSTER_TLS');
    await assert.rejects(waiting, {
      name: 'CommandError',
      message: 'a reason: below',
      next: 'a remedy',
      code: 'CLUSTER_TLS',
    });
    assert.deepEqual(told, []);
  });

  it('continues when each kind reports it once only', async () => {
    const { source, problem } = stage();
    problem('CLUSTER_UNREACHABLE');
    problem('CLUSTER_UNREACHABLE', 'slice');
    await waitForSource(Promise.resolve(), source);
  });

  it('reports ignored objects, but not transient problems', () => {
    const { told, problem } = stage();
    problem('CLUSTER_MALFORMED');
    problem('CLUSTER_CONNECTION_LOST');
    assert.deepEqual(told, ['a reason']);
  });
});
