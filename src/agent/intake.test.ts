import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { Intake } from './intake.ts';
import { NO_NEEDS, SETTINGS } from './testing/agent-stage.ts';

test('a deleted slice names its Service, so that flows of other Services are not inspected', () => {
  const intake = new Intake({ settings: SETTINGS, needs: NO_NEEDS, nodeName: 'node1' });
  intake.take({ kind: 'service', type: 'put', key: 'ns/web', object: service() });
  const object = slice([endpoint('10.0.0.1')]);
  intake.take({ kind: 'slice', type: 'put', key: 'ns/web-1', object });
  const deleted = { kind: 'slice', type: 'delete', key: 'ns/web-1' } as const;
  const { service: name, slice: key, change } = intake.take(deleted);
  assert.deepEqual({ name, key }, { name: 'ns/web', key: 'ns/web-1' });
  assert.deepEqual([change?.before, change?.after], [object, undefined]);
  assert.deepEqual(intake.take(deleted), { slice: 'ns/web-1' }, 'nothing was known of it');
});

test('a slice that is given to another Service names both', () => {
  const intake = new Intake({ settings: SETTINGS, needs: NO_NEEDS, nodeName: 'node1' });
  const put = (service: string) => {
    const object = slice([endpoint('10.0.0.1')], { service });
    return intake.take({ kind: 'slice', type: 'put', key: 'ns/web-1', object });
  };
  assert.equal(put('web').formerService, undefined);
  const moved = put('api');
  assert.deepEqual([moved.formerService, moved.service], ['ns/web', 'ns/api']);
});
