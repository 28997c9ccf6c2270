import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FAIRLEAD_MODES } from '../../../lab/proxies/fairlead-modes.ts';
import { INCIDENTS, incidentsOf } from './list.ts';

const LEAST = 30;

it('names at least thirty incidents, each once', () => {
  assert.ok(INCIDENTS.length >= LEAST);
  assert.equal(new Set(INCIDENTS.map(({ name }) => name)).size, INCIDENTS.length);
});

it('asks in mode nftables all but those of programs at a cgroup', () => {
  const { leftOut } = incidentsOf('nftables');
  assert.deepEqual(
    leftOut.map(({ name }) => name),
    ['cgroup of the hooks is missing'],
  );
});

it('gives every incident to a mode, or a reason why not', () => {
  for (const mode of FAIRLEAD_MODES) {
    const { chosen, leftOut } = incidentsOf(mode);
    assert.equal(chosen.length + leftOut.length, INCIDENTS.length);
    assert.ok(chosen.length > INCIDENTS.length / 2, mode);
    for (const { name, reason } of leftOut) assert.ok(reason.length > 10, name);
  }
});

it('chooses incidents by name', () => {
  const { chosen } = incidentsOf('nftables', /selector/);
  assert.deepEqual(
    chosen.map(({ name }) => name),
    ['selector matches no pod'],
  );
});
