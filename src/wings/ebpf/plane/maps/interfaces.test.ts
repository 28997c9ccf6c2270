import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineLink } from '../../../../linux/route/link-codec.ts';
import { servedInterfaces } from './interfaces.ts';

const link = (index: number, name: string, master = 0): MachineLink => ({
  ...{ index, name, master, kind: '', up: true, mtu: 1500 },
  loopback: name === 'lo',
});

const LINKS = [
  link(1, 'lo'),
  link(2, 'eth0'),
  link(3, 'docker0'),
  link(4, 'veth1', 3),
  link(5, 'br-9f'),
];

test('serves all interfaces but loopback, or those of a pattern', () => {
  assert.deepEqual(servedInterfaces(LINKS, [], undefined), [2, 3, 4, 5]);
  assert.deepEqual(servedInterfaces(LINKS, ['eth*'], undefined), [2]);
});

test('serves the interfaces of clients and the ports of their bridges', () => {
  assert.deepEqual(servedInterfaces(LINKS, [], []), []);
  assert.deepEqual(servedInterfaces(LINKS, [], ['docker0']), [3, 4]);
  assert.deepEqual(servedInterfaces(LINKS, [], ['br-*', 'eth0']), [2, 5]);
  assert.deepEqual(servedInterfaces(LINKS, ['veth*'], ['docker0']), [4]);
});
