import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PLANE_PARTS } from '../run/plane.ts';
import { type CleanableMachine, cleanMachine } from './clean-machine.ts';

/** Every part translated one address; what was done, and what was said. */
function stage(t: TestContext, broken: Partial<CleanableMachine> = {}) {
  const done: string[] = [];
  const said: string[] = [];
  t.mock.method(console, 'log', (text: string) => void said.push(text));
  t.mock.method(console, 'error', (text: string) => void said.push(text));
  const machine: CleanableMachine = {
    removePart: async (part) => {
      done.push(part);
      return [{ protocol: 'TCP', port: 80 }];
    },
    removeFlows: async (frontends) => {
      done.push(`flows of ${frontends.length}`);
      return 7;
    },
    restoreSettings: async () => {
      done.push('settings');
      return { changes: [], leftAlone: [], problems: [] };
    },
    ...broken,
  };
  return { machine, done, said };
}

test('a machine that nobody serves any more is left as it was before', async (t) => {
  const { machine, done } = stage(t);
  await cleanMachine({}, machine);
  assert.deepEqual(done, [...PLANE_PARTS, 'flows of 3', 'settings']);
});

test('whoever takes over keeps the connections and the settings, and is told so', async (t) => {
  const { machine, done, said } = stage(t);
  await cleanMachine({ keepFlows: true }, machine);
  assert.deepEqual(done, PLANE_PARTS);
  assert.match(said.join('\n'), /kernel settings: left to the proxy that takes over/);
});

test('to take one mode away is to leave the machine to another', async (t) => {
  const { machine, done } = stage(t);
  await cleanMachine({ mode: 'nftables' }, machine);
  assert.deepEqual(done, ['nftables']);
});
