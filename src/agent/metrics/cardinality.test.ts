import assert from 'node:assert/strict';
import { it } from 'node:test';
import { snapshotWith } from '../servers/testing/example-conditions.ts';
import { acknowledged, metricsOf, step, tell } from './testing/told-metrics.ts';

async function renderedFor(services: readonly string[]): Promise<string> {
  const error = { code: 'X', message: 'no', next: '', atMs: 0 };
  const failingRows = services.map((name) => {
    return { key: `${name}/TCP/IPv4`, attempts: 1, firstFailedAtMs: 0, retryAtMs: 0, error };
  });
  const snapshot = snapshotWith({ failingRows, failingRowCount: services.length });
  const metrics = metricsOf({ snapshot: () => snapshot });
  tell(metrics, 'onStep', step(5));
  for (const service of services) {
    const { propagations, ...more } = acknowledged({ sinceTriggeredMs: [1] });
    const named = propagations.map((propagation) => ({ ...propagation, service }));
    tell(metrics, 'onAcknowledged', { ...more, propagations: named });
    tell(metrics, 'onStepFailed', { scope: 'row', families: ['IPv4'], key: service, error });
  }
  return await metrics.render();
}

function seriesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' '))).sort();
}

it('has as many series for a thousand Services as for one, and names none of them', async () => {
  const many = Array.from({ length: 1000 }, (_, n) => `tenant/secret-project-${n}`);
  const text = await renderedFor(many);
  assert.deepEqual(seriesOf(text), seriesOf(await renderedFor(many.slice(0, 1))));
  assert.doesNotMatch(text, /secret-project/);
});
