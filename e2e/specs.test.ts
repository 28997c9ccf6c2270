import assert from 'node:assert/strict';
import { test } from 'node:test';
import { focusOf } from './specs.ts';

const SPECS = [
  '[sig-network] Services should serve a basic endpoint from pods [Conformance]',
  '[sig-network] Services should be able to up and down services',
  '[sig-network] DNS should provide DNS for services [Conformance]',
  '[sig-node] Pods should be updated [Conformance]',
  '[sig-network] LocalhostNodePorts should proxy localhost NodePort traffic to backends across nodes',
];

function chosen(wish: { focus?: string; conformance: boolean }): number[] {
  const pattern = new RegExp(focusOf(wish));
  return SPECS.flatMap((name, index) => (pattern.test(name) ? [index] : []));
}

test('what concerns a proxy, when nothing else is asked for', () => {
  assert.deepEqual(chosen({ conformance: false }), [0, 1, 4]);
});

test('conformance is of the network group, and can be narrowed', () => {
  assert.deepEqual(chosen({ conformance: true }), [0, 2]);
  assert.deepEqual(chosen({ conformance: true, focus: 'Services|Pods' }), [0]);
});

test('a pattern of your own chooses from everything', () => {
  assert.deepEqual(chosen({ conformance: false, focus: 'updated' }), [3]);
});
