import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ENDPOINT, eventually, startNode, type TestNode } from './testing/own-node.ts';
import { askStreams, serveStreams } from './testing/streams.ts';

const COUNT = 10_000;
let node: TestNode;

before(async () => {
  node = await startNode();
});
after(() => node.close());

describe('10,000 streams', () => {
  it('arrive with every byte and with their own ending', async () => {
    const streams = await serveStreams(ENDPOINT);
    const slot = node.newSlot();
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [{ slot, address: ENDPOINT, port: streams.port }]);
    node.main.setTarget(frontend, { list: frontend.port });
    const to = { host: frontend.address, port: frontend.port };
    const faults = await askStreams({ ...to, count: COUNT, atOnce: 32, mostBytes: 600_000 });
    assert.deepEqual([faults, streams.faults], [[], []]);
    await eventually(() => node.main.openCount(slot) === 0, 'all pairs are closed');
    assert.equal(node.main.count(slot, 'connections'), COUNT);
    streams.server.close();
  });
});
