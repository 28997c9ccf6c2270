import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ForwardingTable } from './table.ts';
import { endpoint, service, slice, view } from './testing/example-objects.ts';

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
  table.takeChanges();
  return table;
}

it('counts Services, frontends and endpoints', () => {
  assert.deepEqual(tableWith(['lc', undefined]).contents.counts, {
    services: 2,
    frontends: 2,
    endpoints: 1,
  });
});

it('names the first Services with an unusable scheduler, and counts them all', () => {
  const table = tableWith(['rr', ...Array(12).fill('fastest')]);
  const { ignoredSchedulers } = table.contents.counts;
  assert.equal(ignoredSchedulers?.count, 12);
  assert.equal(ignoredSchedulers.first.length, 10);
  assert.equal(ignoredSchedulers.first[0]?.service, 'ns/web-1');
  assert.match(
    ignoredSchedulers.first[0].fault,
    /^fairlead\.dev\/ipvs-scheduler: "fastest" is not/,
  );
});

it('forgets a Service that is gone, or whose scheduler can be used now', () => {
  const table = tableWith(['fastest', 'slowest']);
  table.deleteService('ns/web-0');
  table.putService(service({ name: 'web-1', clusterIPs: ['10.96.1.1'], ipvsScheduler: 'lc' }));
  table.takeChanges();
  assert.deepEqual(table.contents.counts, { services: 1, frontends: 1, endpoints: 0 });
});
