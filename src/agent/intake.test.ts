import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint, service, slice } from '../forwarding/testing/objects.ts';
import { Intake } from './intake.ts';
import { NO_NEEDS, SETTINGS } from './testing/stage.ts';

test('a deleted slice names its Service, so that flows of other Services are not inspected', () => {
  const intake = new Intake({ settings: SETTINGS, needs: NO_NEEDS, nodeName: 'node1' });
  intake.take({ kind: 'service', type: 'put', key: 'ns/web', object: service() });
  const object = slice([endpoint('10.0.0.1')]);
  intake.take({ kind: 'slice', type: 'put', key: 'ns/web-1', object });
  const deleted = { kind: 'slice', type: 'delete', key: 'ns/web-1' } as const;
  assert.deepEqual(intake.take(deleted), { service: 'ns/web', slice: 'ns/web-1' });
  assert.deepEqual(intake.take(deleted), { slice: 'ns/web-1' }, 'nothing was known of it');
});
