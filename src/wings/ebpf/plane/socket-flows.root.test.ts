import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Flow } from '../../../linux/conntrack/flow.ts';
import { openPinnedMap } from '../../../linux/ebpf/map-create.ts';
import type { HooksPlane } from './hooks-plane.ts';
import { ENDED_KEY } from './maps/layout.ts';
import { SocketFlows } from './socket-flows.ts';
import { testPlace } from './testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from './testing/ebpf-rows.ts';

const place = testPlace('flows');
const OWN = '/proc/thread-self/ns/net';
const FILES = mkdtempSync(join(tmpdir(), 'fairlead-flows-'));
const [READY, STOP] = [join(FILES, 'ready'), join(FILES, 'stop')];
const QUESTION = { protocols: new Set([17]), destinationPorts: new Set([53]) };
const DNS = rowOf('dns', {
  protocol: 'UDP',
  frontends: [clusterIp('10.96.0.53', { port: 53 })],
  endpoints: ['127.0.0.11:5353'],
});

let plane: HooksPlane;

beforeEach(async () => {
  plane = place.newPlane();
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change('absent', DNS)]);
});

afterEach(() => plane.remove());
after(() => {
  place.leave();
  rmSync(FILES, { recursive: true });
});

function open(options: { namespaces?: readonly string[]; problems?: unknown[] } = {}): SocketFlows {
  return new SocketFlows({
    readObject: () => place.object,
    pinFolder: join(place.pins, 'fairlead'),
    namespaces: () => options.namespaces ?? [OWN],
    onProblem: (error) => options.problems?.push(error),
  });
}

async function told(flows: SocketFlows): Promise<Flow[]> {
  const signal = AbortSignal.timeout(20_000);
  return (await Array.fromAsync(flows.flows(QUESTION, signal))).flat();
}

async function someFlow(flows: SocketFlows): Promise<Flow> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const [flow] = await told(flows);
    if (flow) return flow;
    assert.ok(performance.now() < deadline, 'in time');
  }
}

const CONNECT = `
  const socket = require('dgram').createSocket('udp4');
  socket.on('error', (error) => { console.log(error.code); socket.close(); });
  socket.connect(53, '10.96.0.53');`;

test('ends no socket by entries that an earlier process has left', async () => {
  const ended = openPinnedMap(join(place.pins, 'fairlead/maps/ended'));
  ended.update(Buffer.alloc(ENDED_KEY.bytes), Buffer.from([1, 0, 0, 0]));
  await told(open());
  assert.equal(ended.nextKey(undefined), undefined);
  ended.close();
});

test('reads other namespaces when one cannot be read', async () => {
  const problems: unknown[] = [];
  // No namespace at all; none that is ours to enter; one that has gone.
  const namespaces = ['/proc/self/status', '/proc/self/ns/mnt', '/proc/0/ns/net', OWN];
  const flows = open({ namespaces, problems });
  const script = place.inGroup(CONNECT);
  const flow = await someFlow(flows);
  assert.deepEqual(await flows.remove([flow]), [flow]);
  assert.equal(await script, 'ECONNABORTED');
  assert.equal(problems.length, 1);
});

test('finds sockets in recreated maps', async () => {
  const flows = open();
  assert.deepEqual(await told(flows), []);
  await plane.remove();
  await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
  await plane.apply([change('absent', DNS)]);
  const script = place.inGroup(CONNECT);
  await flows.remove([await someFlow(flows)]);
  assert.equal(await script, 'ECONNABORTED');
});

test('ignores a socket that has disconnected', async () => {
  const flows = open();
  const script = place.inGroup(`
    const socket = require('dgram').createSocket('udp4');
    socket.on('error', (error) => { console.log(error.code); socket.close(); });
    // A socket that chose its own port is still iterated.
    socket.bind(40053, () => socket.connect(53, '10.96.0.53', () => {
      socket.disconnect();
      const timer = setInterval(() => {
        if (!require('fs').existsSync('${STOP}')) return;
        clearInterval(timer);
        console.log('well');
        socket.close();
      }, 20);
      require('fs').writeFileSync('${READY}', '');
    }));`);
  try {
    // Until then it is connected, and a flow like the other one.
    await until(() => existsSync(READY));
    const other = place.inGroup(CONNECT);
    const flow = await someFlow(flows);
    assert.equal((await told(flows)).length, 1);
    await flows.remove([flow]);
    assert.equal(await other, 'ECONNABORTED');
  } finally {
    writeFileSync(STOP, '');
  }
  assert.equal(await script, 'well');
});

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, 'in time');
    await delay(20);
  }
}
