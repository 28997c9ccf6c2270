import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notServedText } from './not-served-text.ts';
import { ForwardingTable } from './table.ts';
import { service, view } from './testing/example-objects.ts';

const RANGES = ['10.96.0.0/16', 'fd00:96::/108'];
const OUTSIDE = { isNode: false, onlyServiceRanges: true } as const;
const TEXT = 'it is outside of the configured Service ranges 10.96.0.0/16, fd00:96::/108';

type More = Parameters<typeof service>[0];

/** Frontends of a Service, as `address` or `address: why it is not served`. */
function served(rows: ForwardingTable, name: string): string[] {
  return rows
    .ofService(`ns/${name}`)
    .flatMap(({ frontends }) => frontends)
    .map(({ address, notServed }) => {
      return notServed ? `${address}: ${notServedText(notServed)}` : address;
    });
}

function table(more: Parameters<typeof view>[0], ...services: More[]): ForwardingTable {
  const rows = new ForwardingTable(view(more));
  for (const each of services) rows.putService(service(each));
  return rows;
}

describe('a cluster IP, without a Node object', () => {
  it('is served in the Service ranges, and not outside of them', () => {
    const rows = table(
      { ...OUTSIDE, serviceRanges: RANGES },
      { name: 'web', clusterIPs: ['10.96.0.1', 'fd00:96::1'] },
      { name: 'four', clusterIPs: ['8.8.8.8', 'fd00:96::2'] },
      { name: 'six', clusterIPs: ['10.96.0.3', '2001:4860:4860::8888'] },
    );
    assert.deepEqual(served(rows, 'web'), ['10.96.0.1', 'fd00:96::1']);
    assert.deepEqual(served(rows, 'four'), [`8.8.8.8: ${TEXT}`, 'fd00:96::2']);
    assert.deepEqual(served(rows, 'six'), ['10.96.0.3', `2001:4860:4860::8888: ${TEXT}`]);
    rows.takeChanges();
    assert.equal(rows.notServed.counts()['outside-ranges'], 2);
    assert.deepEqual(
      rows.notServed.first(9).map(({ frontend }) => frontend.address),
      ['8.8.8.8', '2001:4860:4860::8888'],
    );
  });

  it('is not served if no range is known', () => {
    const rows = table({ ...OUTSIDE, serviceRanges: [] }, { name: 'web' });
    const why = 'no Service range is configured (fairlead.serviceRanges)';
    assert.deepEqual(served(rows, 'web'), [`10.96.0.1: ${why}`, `fd00:96::1: ${why}`]);
  });

  it('is not served on any port, whoever else claims it, and with the rules of kube-proxy', () => {
    const ports = [80, 81].map((port) => ({
      name: `p${port}`,
      protocol: 'TCP',
      port,
      nodePort: 0,
    }));
    for (const addressRules of ['strict', 'kube-proxy'] as const) {
      const rows = table(
        { ...OUTSIDE, serviceRanges: RANGES, addressRules },
        { name: 'thief', clusterIPs: ['8.8.8.8'], ports },
        { name: 'other', clusterIPs: ['10.96.0.2'], externalIPs: ['8.8.8.8'] },
      );
      const text = `8.8.8.8: ${TEXT}`;
      assert.deepEqual(served(rows, 'thief'), [text, text], addressRules);
    }
  });

  it('follows a change of the ranges', () => {
    const rows = table(
      { ...OUTSIDE, serviceRanges: [] },
      { name: 'web', clusterIPs: ['10.96.0.1'] },
    );
    rows.takeChanges();
    rows.setView(view({ ...OUTSIDE, serviceRanges: RANGES }));
    assert.deepEqual(
      rows.takeChanges().map(({ key }) => key),
      ['ns/web/TCP/IPv4'],
    );
    assert.deepEqual(served(rows, 'web'), ['10.96.0.1']);
    assert.equal(rows.notServed.counts()['outside-ranges'], 0);
    rows.setView(view({ ...OUTSIDE, serviceRanges: ['10.97.0.0/16'] }));
    assert.equal(rows.takeChanges().length, 1);
    assert.equal(rows.notServed.counts()['outside-ranges'], 1);
  });
});

describe('a cluster IP on a node', () => {
  it('is served at every address', () => {
    const rows = table({ serviceRanges: RANGES }, { name: 'web', clusterIPs: ['8.8.8.8'] });
    assert.deepEqual(served(rows, 'web'), ['8.8.8.8']);
  });
});
