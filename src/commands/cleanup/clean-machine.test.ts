import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PlaneError } from '../../dataplanes/contract.ts';
import { allParts } from '../../modes/mode-registry.ts';
import type { Part } from '../../modes/part.ts';
import { NEEDS_WINGS } from '../../wings/testing/needs-wings.ts';
import { CommandError } from '../command-error.ts';
import { type CleanableMachine, cleanMachine } from './clean-machine.ts';

const PART_NAMES = (await allParts()).map(({ name }) => name);

/** Every part translated one address; records the calls and the output. */
function stage(t: TestContext) {
  const done: string[] = [];
  const said: string[] = [];
  t.mock.method(console, 'log', (text: string) => void said.push(text));
  t.mock.method(console, 'error', (text: string) => void said.push(text));
  const machine: CleanableMachine = {
    removePart: async ({ name }) => {
      done.push(name);
      const holdings = [{ what: 'rules', count: 3 }] as const;
      return { frontends: [{ protocol: 'TCP', port: 80 }], holdings };
    },
    removeRoutes: async () => {
      done.push('routes');
      return ['10.96.0.0/12', 'fd00:96::/108'];
    },
    removeFlows: async (frontends) => {
      done.push(`flows of ${frontends.length}`);
      return 7;
    },
    restoreSettings: async () => {
      done.push('settings');
      return { changes: [], leftAlone: [], problems: [] };
    },
    removeSocket: async () => false,
  };
  return { machine, done, said };
}

test('removes parts, conntrack entries and settings', async (t) => {
  const { machine, done } = stage(t);
  await cleanMachine({}, machine);
  assert.deepEqual(done, [...PART_NAMES, 'routes', `flows of ${PART_NAMES.length}`, 'settings']);
});

test('reports what was removed', async (t) => {
  const { machine, said } = stage(t);
  await cleanMachine({}, machine);
  assert.deepEqual(said, [
    ...PART_NAMES.map((part) => `${part}: removed 3 rules`),
    'routes: removed 10.96.0.0/12, fd00:96::/108',
    'conntrack entries: deleted 7',
    'kernel settings: nothing to restore',
  ]);
});

test('removes the socket of an agent that was killed', async (t) => {
  const { machine, said } = stage(t);
  const removeSocket = async () => true;
  await cleanMachine({ mode: 'nftables' }, { ...machine, removeSocket });
  assert.equal(said.at(-1), 'status socket: removed that of an agent that was killed');
});

test('reports when there was nothing to remove', NEEDS_WINGS, async (t) => {
  const { machine, said } = stage(t);
  const removePart = async ({ name }: Part) =>
    name === 'iptables' ? undefined : { frontends: [], holdings: [] };
  const nothing = { removeRoutes: async () => [], removeFlows: async () => 0 };
  await cleanMachine({}, { ...machine, removePart, ...nothing });
  assert.deepEqual(said, [
    'ebpf hooks: nothing to remove',
    'forwarder: nothing to remove',
    'ipvs: nothing to remove',
    'nftables: nothing to remove',
    'iptables: nothing to remove: its programs are not installed on this machine',
    'routes: nothing to remove',
    'conntrack entries: nothing to delete',
    'kernel settings: nothing to restore',
  ]);
});

test('counts one object in the singular', NEEDS_WINGS, async (t) => {
  const { machine, said } = stage(t);
  const holdings = [
    { what: 'processes', count: 1 },
    { what: 'addresses', count: 1 },
    { what: 'rules', count: 1 },
    { what: 'routes', count: 1 },
    { what: 'routing rules', count: 1 },
  ] as const;
  await cleanMachine({}, { ...machine, removePart: async () => ({ frontends: [], holdings }) });
  assert.equal(
    said[0],
    'ebpf hooks: removed 1 process, 1 address, 1 rule, 1 route, 1 routing rule',
  );
});

test('reports what a dry run would remove', async (t) => {
  const { machine, said } = stage(t);
  const change = { name: 'net/x', before: '1', after: '2' };
  const restoreSettings = async () => ({ changes: [change], leftAlone: [], problems: [] });
  await cleanMachine({ dryRun: true }, { ...machine, restoreSettings });
  assert.deepEqual(said, [
    ...PART_NAMES.map((part) => `${part}: would remove 3 rules`),
    'routes: would remove 10.96.0.0/12, fd00:96::/108',
    'conntrack entries: would delete 7',
    'net/x: would be restored: 1 -> 2',
  ]);
});

test('keeps conntrack entries and settings for the next proxy', async (t) => {
  const { machine, done, said } = stage(t);
  await cleanMachine({ keepFlows: true }, machine);
  assert.deepEqual(done, PART_NAMES);
  assert.match(said.join('\n'), /kernel settings: kept for the proxy that takes over/);
});

test('keeps conntrack entries and settings when one mode is removed', async (t) => {
  const { machine, done } = stage(t);
  await cleanMachine({ mode: 'nftables' }, machine);
  assert.deepEqual(done, ['nftables']);
});

test('continues after a failure, and reports it', NEEDS_WINGS, async (t) => {
  const { machine, done, said } = stage(t);
  const locked = new PlaneError('the lock is held', { code: 'LOCKED', next: 'wait' });
  const removePart: CleanableMachine['removePart'] = async (part) => {
    if (part.name === 'nftables') throw locked;
    return await machine.removePart(part);
  };
  const unreadable = new Error('no tracked connections');
  const removeFlows = async () => {
    throw unreadable;
  };
  await assert.rejects(cleanMachine({}, { ...machine, removePart, removeFlows }), (error) => {
    assert.ok(error instanceof CommandError && error.cause instanceof AggregateError);
    assert.equal(error.code, 'CLEANUP_INCOMPLETE');
    assert.deepEqual(error.cause.errors, [locked, unreadable]);
    return true;
  });
  assert.deepEqual(done, ['ebpf hooks', 'forwarder', 'ipvs', 'iptables', 'routes', 'settings']);
  assert.ok(said.includes('warning: nftables: the lock is held; wait'));
});
