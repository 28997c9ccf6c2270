import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pacedEvents } from './service-events.ts';

test('reports a row whose parts take longer than a second, and no other', () => {
  const said: unknown[] = [];
  const observer = pacedEvents({ servicePaced: (service, note) => said.push([service, note]) });
  const id = {
    namespace: 'ns',
    service: 'huge',
    port: 'http',
    protocol: 'TCP',
    family: 'IPv4',
  } as const;
  const part = { id, writtenCount: 3, objectCount: 150_000, isFinished: false };
  observer.onPart?.({ ...part, elapsedMs: 999 });
  assert.deepEqual(said, []);
  observer.onPart?.({ ...part, elapsedMs: 1000 });
  const note = 'ns/huge:http is written in parts: it has up to 150,000 kernel objects';
  assert.deepEqual(said, [[{ namespace: 'ns', name: 'huge' }, note]]);
});
