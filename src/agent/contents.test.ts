import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ForwardingTable } from '../forwarding/table.ts';
import { endpoint, service, slice, view } from '../forwarding/testing/objects.ts';
import { contentsOf } from './contents.ts';

function tableWith(annotations: readonly (string | undefined)[]): ForwardingTable {
  const table = new ForwardingTable(view());
  for (const [n, ipvsScheduler] of annotations.entries()) {
    const name = `web-${n}`;
    const clusterIPs = [`10.96.1.${n}`];
    table.putService(
      service({ name, clusterIPs, ...(ipvsScheduler === undefined ? {} : { ipvsScheduler }) }),
    );
  }
  table.putSlice(slice([endpoint('10.0.0.1')], { service: 'web-0' }));
  return table;
}

it('counts Services, frontends and endpoints', async () => {
  assert.deepEqual(await contentsOf(tableWith(['lc', undefined])), {
    services: 2,
    frontends: 2,
    endpoints: 1,
  });
});

it('names the first Services with an unusable scheduler, and counts them all', async () => {
  const { ignoredSchedulers } = await contentsOf(tableWith(['rr', ...Array(12).fill('fastest')]));
  assert.equal(ignoredSchedulers?.count, 12);
  assert.equal(ignoredSchedulers.first.length, 10);
  assert.equal(ignoredSchedulers.first[0]?.service, 'ns/web-1');
  assert.match(
    ignoredSchedulers.first[0].fault,
    /^fairlead\.dev\/ipvs-scheduler: "fastest" is not/,
  );
});

it('reads few Services at once: changes come between', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `ns/web-${index}`);
  const counts = { now: 0, most: 0, isDone: false };
  const ofService = () => {
    counts.now++;
    return [];
  };
  const counting = contentsOf({ serviceNames: () => names, ofService });
  void counting.then(() => {
    counts.isDone = true;
  });
  while (!counts.isDone) {
    counts.most = Math.max(counts.most, counts.now);
    counts.now = 0;
    await turn();
  }
  assert.ok(counts.most > 0 && counts.most <= 1_000, `${counts.most} between two turns`);
});
