import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import { JoinedFlows } from './joined.ts';

const TUPLE = { source: '', destination: '', sourcePort: 0, destinationPort: 0 };

function flow(id: number): Flow {
  const rest = { status: 0, zone: 0, mark: 0, timeoutSeconds: 0, tcpState: undefined };
  return { version: 4, protocol: 17, original: TUPLE, reply: TUPLE, id, ...rest };
}

function place(flows: readonly Flow[], removed: number[]): Conntrack {
  return {
    filtersCheaply: () => true,
    async *flows() {
      yield flows;
    },
    remove: async (given) => {
      removed.push(...given.map(({ id }) => id));
      return given;
    },
  };
}

test('queries every conntrack, and deletes each flow where it was found', async () => {
  const first: number[] = [];
  const second: number[] = [];
  const joined = new JoinedFlows([place([flow(1), flow(2)], first), place([flow(3)], second)]);
  const question = { protocols: new Set([17]), destinationPorts: new Set([53]) };
  const found = (await Array.fromAsync(joined.flows(question, AbortSignal.timeout(5000)))).flat();
  assert.deepEqual(
    found.map(({ id }) => id),
    [1, 2, 3],
  );
  const removed = await joined.remove(found.slice(1));
  assert.deepEqual([first, second, removed.length], [[2], [3], 2]);
});
