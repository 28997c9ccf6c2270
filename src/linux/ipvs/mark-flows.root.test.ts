import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelConntrack } from '../conntrack/conntrack.ts';
import type { Flow } from '../conntrack/flow.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { markFlows } from './mark-flows.ts';

enterOwnNetwork();

const UDP = 17;
const question = { protocols: new Set([UDP]), destinationPorts: new Set([53]) };

async function list(): Promise<Flow[]> {
  const found: Flow[] = [];
  const { signal } = new AbortController();
  for await (const flows of new KernelConntrack().flows(question, signal)) found.push(...flows);
  return found.sort((a, b) => a.original.sourcePort - b.original.sourcePort);
}

function insert(clientPort: number, mark: number): void {
  run([
    ...(['conntrack', '-I', '-p', 'udp', '-s', '10.1.0.9', '-d', '10.96.0.10'] as const),
    ...['--sport', String(clientPort), '--dport', '53', '-r', '10.244.0.1', '-q', '10.1.0.9'],
    ...['--reply-port-src', '53', '--reply-port-dst', String(clientPort), '-t', '100'],
    ...['-m', String(mark)],
  ]);
}

test('sets bits of the mark of flows that are there, and keeps the other bits', async () => {
  for (const port of [4001, 4002, 4003]) insert(port, 9);
  const [first, second, third] = await list();
  assert.ok(first && second && third);
  run(['conntrack', '-D', '-p', 'udp', '--sport', '4002']);
  assert.equal(await markFlows([first, second], 0x1000), 1);
  assert.deepEqual(
    (await list()).map(({ mark }) => mark),
    [0x1009, 9],
  );
});
