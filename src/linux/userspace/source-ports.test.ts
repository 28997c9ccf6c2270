import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KEPT_PORTS, portsBeside } from './source-ports.ts';

it('takes the ports that the kernel gives no other socket, the larger part of them', () => {
  assert.deepEqual(portsBeside({ first: 32_768, last: 60_999 }), KEPT_PORTS);
  assert.deepEqual(portsBeside({ first: 20_000, last: 60_999 }), { first: 10_240, last: 19_999 });
  assert.deepEqual(portsBeside({ first: 1_024, last: 20_000 }), { first: 20_001, last: 32_767 });
  assert.deepEqual(portsBeside({ first: 12_000, last: 20_000 }), { first: 20_001, last: 32_767 });
});

it('takes all of its ports where too few would be left', () => {
  assert.deepEqual(portsBeside({ first: 1_024, last: 65_535 }), KEPT_PORTS);
  assert.deepEqual(portsBeside({ first: 12_000, last: 32_000 }), KEPT_PORTS);
});
