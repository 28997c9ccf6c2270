import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { it } from 'node:test';
import { ConnectionPlaces } from './connection-places.ts';

const LIMITS = { waiting: 2, admitted: 1, firstRequestMs: 3_000 };

it('closes a connection that has not sent the token in time, and no other', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const places = new ConnectionPlaces(LIMITS);
  const [silent, mine] = [new Socket(), new Socket()];
  places.add(silent);
  t.mock.timers.tick(2_999);
  places.add(mine);
  places.admit(mine);
  assert.equal(silent.destroyed, false);
  t.mock.timers.tick(1);
  assert.equal(silent.destroyed, true);
  t.mock.timers.tick(60_000);
  assert.equal(mine.destroyed, false);
  mine.destroy();
});

it('does not admit a connection that has lost its place', () => {
  const places = new ConnectionPlaces(LIMITS);
  const [first, second, third] = [new Socket(), new Socket(), new Socket()];
  for (const socket of [first, second, third]) places.add(socket);
  places.admit(first);
  assert.deepEqual([first.destroyed, places.isAdmitted(first)], [true, false]);
  assert.equal(second.destroyed || third.destroyed, false);
  for (const socket of [second, third]) socket.destroy();
});
