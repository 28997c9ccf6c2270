import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../../lab/host/until.ts';
import type { DataPlane, Desired, Inspection } from '../../../src/dataplanes/contract.ts';
import { change } from '../../../src/dataplanes/shared/testing/plane-change.ts';
import { type Forwarding, servicePortKey } from '../../../src/forwarding/model.ts';
import { openPinnedLink } from '../../../src/linux/ebpf/bpf-link.ts';
import { loadObject } from '../../../src/linux/ebpf/load-object.ts';
import { compiledProgram } from '../../../src/linux/ebpf/testing/compiled-program.ts';
import { ownPlace } from '../../../src/linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork, ip } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { SOCKET_HOOKS_PART } from '../../../src/wings/ebpf/hooks-part.ts';
import { clusterIp, FACTS, rowOf } from '../../../src/wings/ebpf/plane/testing/ebpf-rows.ts';
import { SOCKET_EBPF } from '../../../src/wings/ebpf/socket-ebpf.ts';
import { GroupHammer } from './hammer.ts';

const place = ownPlace('load');
enterOwnNetwork();
const object = compiledProgram('sock');
const ebpf = { cgroupPath: place.cgroup, pinFolder: join(place.pins, 'fairlead') };
const ENDPOINTS = ['10.244.0.11:8080', '10.244.0.12:8080', '10.244.0.13:8080'];
const WEB = rowOf('web', { frontends: [clusterIp('10.96.0.1')], endpoints: ENDPOINTS });
const ROWS = [WEB];
const DESIRED: Desired = { facts: FACTS, rows: ROWS };
const HOOK = join(ebpf.pinFolder, 'links/connect4');
const DEADLINE_MS = 60_000;
const REPAIRED_WITHIN_MS = 1000;
const servers: Server[] = [];

before(async () => {
  // Everything is on this machine; the route is for connections that pass the hooks.
  const addresses = ['10.244.0.1', ...ENDPOINTS.map(hostOf)];
  ip(...addresses.map((address) => `addr add ${address}/32 dev lo`));
  ip('route add 10.96.0.0/16 dev lo src 10.244.0.1');
  for (const endpoint of ENDPOINTS) {
    const server = createServer((socket) => {
      // Whoever connects is killed at the end of a test, with connections under way.
      socket.on('error', () => socket.destroy());
      socket.end(endpoint);
    }).listen(8080, hostOf(endpoint));
    await once(server, 'listening');
    servers.push(server);
  }
});

function hostOf(endpoint: string): string {
  return endpoint.split(':')[0] ?? '';
}

after(async () => {
  await SOCKET_EBPF.open({ ebpf }).plane.remove();
  for (const server of servers) server.close();
  place.leave();
});

/** A process as after a start: inspects everything, writes what differs. */
async function started(rows: readonly Forwarding[] = ROWS): Promise<[DataPlane, Inspection]> {
  const { plane } = SOCKET_EBPF.open({ ebpf });
  const inspection = await plane.inspect({ facts: FACTS, rows }, 'everything');
  const wrong = rows.filter(({ id }) => !inspection.right.has(servicePortKey(id)));
  await plane.apply(wrong.map((row) => change('unknown', row)));
  return [plane, inspection];
}

/** Something happens while connections are made: at least a hundred, and none fails. */
async function underLoad(work: () => Promise<void>): Promise<number> {
  using hammer = new GroupHammer({ cgroup: place.cgroup, address: '10.96.0.1' });
  const enough = async (least: number): Promise<void> => {
    const what = `${least} connections`;
    await until(async () => (await hammer.soFar()).made >= least, {
      what,
      deadlineMs: DEADLINE_MS,
    });
  };
  await enough(50);
  await work();
  const { made } = await hammer.soFar();
  await enough(made + 50);
  const total = await hammer.soFar();
  assert.deepEqual(total.failed, {});
  return total.made;
}

/** Ours, on maps of its own that are empty: everything passes. */
function replaceProgram(): void {
  const loaded = loadObject(object, { programs: [{ name: 'connect4' }] });
  const link = openPinnedLink(HOOK);
  for (const program of loaded.programs.values()) link.update(program);
  link.close();
  loaded.close();
}

test('restarts write nothing, and no connection fails', async (t) => {
  await started();
  const made = await underLoad(async () => {
    for (let round = 0; round < 10; round++) {
      const [, { right, writeCount }] = await started();
      assert.deepEqual([right.size, writeCount], [1, 0]);
    }
  });
  t.diagnostic(`10 restarts, ${made} connections`);
});

test('programs are replaced under connections', async (t) => {
  const [plane] = await started();
  const made = await underLoad(async () => {
    for (let round = 0; round < 20; round++) {
      replaceProgram();
      const { differences } = await plane.inspect(DESIRED, 'reported');
      assert.deepEqual(differences, [{ kind: 'different', object: 'ebpf hook connect4' }]);
    }
  });
  t.diagnostic(`40 replacements, ${made} connections`);
});

test('restores a hook within a second after another process detaches it', async (t) => {
  const [plane] = await started();
  const stop = new AbortController();
  let repairing = Promise.resolve();
  const repair = async (): Promise<void> => void (await plane.inspect(DESIRED, 'reported'));
  const watching = plane.watch(() => {
    repairing = repairing.then(repair);
  }, stop.signal);
  const tookMs: number[] = [];
  try {
    await underLoad(async () => {
      for (let round = 0; round < 5; round++) {
        const link = openPinnedLink(HOOK);
        const from = performance.now();
        link.detach();
        link.close();
        const isBack = async (): Promise<boolean> => (await plane.diff(DESIRED)).length === 0;
        await until(isBack, { what: 'the hook', deadlineMs: DEADLINE_MS, everyMs: 10 });
        tookMs.push(performance.now() - from);
      }
    });
  } finally {
    stop.abort();
    await watching;
    await repairing;
  }
  t.diagnostic(`repaired after ${tookMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  assert.ok(Math.max(...tookMs) < REPAIRED_WITHIN_MS, `${tookMs.join(', ')} ms`);
});

test('hooks come and go in front of nftables, and maps grow', async (t) => {
  await started();
  const more = Array.from({ length: 3000 }, (_, n) =>
    rowOf(`more-${n}`, {
      frontends: [clusterIp(`10.97.${n >> 8}.${n & 255}`)],
      endpoints: Array.from({ length: 30 }, (_, e) => `10.245.${e}.${n & 255}:80`),
    }),
  );
  const made = await underLoad(async () => {
    for (let round = 0; round < 5; round++) {
      await SOCKET_HOOKS_PART.open({ ebpf }).remove();
      await started();
    }
    const hooks = SOCKET_HOOKS_PART.open({ ebpf });
    await hooks.inspect(DESIRED, 'everything');
    await hooks.apply(more.map((row) => change('absent', row)));
    await hooks.apply(more.map((row) => change(row, undefined)));
  });
  t.diagnostic(`5 switches there and back, one growth, ${made} connections`);
});
