import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { SOURCE_CLASSES } from '../../../forwarding/model.ts';
import { enterOwnNetwork } from '../../../linux/netlink/testing/own-namespace.ts';
import { listenerPort } from '../../../linux/sockets/listener.ts';
import type { HeldListener } from './forwarder-protocol.ts';
import { closeListeners, openListeners, USUAL_PORTS } from './listeners.ts';

before(() => enterOwnNetwork());

const portsOf = (listeners: readonly HeldListener[]): number[] =>
  listeners.map(({ fd }) => listenerPort(fd));

test('opens the same ports again, and others while a forwarder has them', () => {
  const usual = [...SOURCE_CLASSES, ...SOURCE_CLASSES].map((source) => USUAL_PORTS[source]);
  const first = openListeners();
  assert.deepEqual(portsOf(first), usual);
  const second = openListeners();
  assert.equal(second.length, first.length);
  assert.ok(portsOf(second).every((port) => !usual.includes(port)));
  closeListeners(first);
  const third = openListeners();
  assert.deepEqual(portsOf(third), usual);
  closeListeners([...second, ...third]);
});
