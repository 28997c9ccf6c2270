import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { addressText } from '../conntrack/address-bytes.ts';
import { insertFlows, newFlow } from '../conntrack/testing/insert.ts';
import { enterOwnNetwork } from '../netlink/testing/own-namespace.ts';
import { listenToNewFlows } from './new-flows.ts';

before(enterOwnNetwork);

const flowFrom = (port: number) =>
  newFlow({
    protocol: 6,
    client: ['10.1.0.9', port],
    destination: ['10.96.0.1', 80],
    answeredBy: ['10.244.0.7', 8080],
  });

it('hears of each new flow with client, Service and endpoint, until it is aborted', async () => {
  const stop = new AbortController();
  const heard: string[] = [];
  const listening = listenToNewFlows(
    {
      onFlow: ({ original, reply }) => {
        const client = `${addressText(original.source)}:${original.sourcePort}`;
        heard.push(
          `${client} > ${addressText(original.destination)} > ${addressText(reply.source)}`,
        );
      },
      onOverrun: () => assert.fail('nothing is lost'),
    },
    stop.signal,
  );
  await insertFlows([flowFrom(4001), flowFrom(4002)]);
  await until('two flows', async () => heard.length === 2);
  assert.deepEqual(heard, [
    '10.1.0.9:4001 > 10.96.0.1 > 10.244.0.7',
    '10.1.0.9:4002 > 10.96.0.1 > 10.244.0.7',
  ]);
  stop.abort();
  await listening;
  await insertFlows([flowFrom(4003)]);
  assert.equal(heard.length, 2);
});

it('says when events were lost', async () => {
  const stop = new AbortController();
  let [overruns, heard] = [0, 0];
  const listening = listenToNewFlows(
    {
      onFlow: () => {
        heard += 1;
        // A reader that is slower than the kernel.
        if (heard === 1) block(300);
      },
      onOverrun: () => {
        overruns += 1;
      },
    },
    stop.signal,
  );
  const flows = Array.from({ length: 20_000 }, (_, index) => flowFrom(10_000 + index));
  await insertFlows(flows);
  await until('the end', async () => heard >= flows.length || overruns > 0);
  stop.abort();
  await listening;
  assert.ok(heard === flows.length || overruns > 0, `${heard} heard, nothing said of the others`);
});

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
