import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointCount, ReadingKey } from '../../dataplanes/contract.ts';
import { type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import type { ForwardingTable } from '../../forwarding/table.ts';
import { TrafficPages } from './traffic-pages.ts';
import { TRAFFIC_PATHS, trafficAnswer } from './traffic-routes.ts';

function rowOf(service: string, endpointCount: number): Forwarding {
  const outcome = { action: 'reject' } as const;
  const outcomes = { pod: outcome, host: outcome, outside: outcome };
  return {
    id: { namespace: 'shop', service, port: 'http', protocol: 'TCP', family: 'IPv4' },
    frontends: [
      { kind: 'cluster-ip', address: '10.96.0.1', port: 80, outcomes },
      { kind: 'node-port', address: '', port: 30_080, outcomes },
      {
        ...{ kind: 'external-ip', address: '192.0.2.7', port: 80, outcomes },
        notServed: { reason: 'api-server' },
      },
    ],
    clusterEndpoints: Array.from({ length: endpointCount }, (_, index) => ({
      ...{ address: `10.244.0.${index & 255}`, port: index + 1, local: false },
    })),
    localEndpoints: [],
    affinitySeconds: 0,
  };
}

function pagesOf(rows: readonly Forwarding[], counted: readonly EndpointCount[] = []) {
  const asked: (readonly Forwarding[] | undefined)[] = [];
  const byName = new Map(rows.map((row) => [`shop/${row.id.service}`, row]));
  const table = {
    serviceNames: () => [...byName.keys()].sort(),
    ofService: (name: string) => [byName.get(name)].filter((row) => row !== undefined),
    contents: { frontendsVersion: 7 },
  } as unknown as ForwardingTable;
  const plane = {
    read: async (_: ReadingKey, only?: readonly Forwarding[]) => {
      asked.push(only);
      return counted as never;
    },
  };
  const options = { run: 'run', table: () => table, plane, monotonicMs: () => 0 };
  return { pages: new TrafficPages(options), table, asked };
}

const keyOf = (row: Forwarding): string => servicePortKey(row.id);

describe('what `fairlead top` asks', () => {
  it('lists the served addresses of every Service, page by page', () => {
    const rows = Array.from({ length: 2501 }, (_, index) => rowOf(`s${index}`, 0));
    const { pages } = pagesOf(rows);
    const first = pages.servedSince();
    const second = pages.servedAfter(first.lastService);
    const third = pages.servedAfter(second.lastService);
    assert.equal(third.lastService, undefined);
    const all = [...first.ports, ...second.ports, ...third.ports];
    assert.deepEqual(all.map(([key]) => key).sort(), rows.map(keyOf).sort());
    assert.deepEqual(all[0]?.[1], [
      ['10.96.0.1', 80],
      ['', 30_080],
    ]);
  });

  it('lists none to a reader that has the version of now, and all to any other', () => {
    const { pages, table } = pagesOf([rowOf('a', 1), rowOf('b', 1)]);
    const { version } = pages.servedSince();
    assert.ok(version);
    const again = pages.servedSince(version);
    assert.deepEqual(again, { ports: [], version, isUnchanged: true });
    for (const other of ['', 'another-run-7']) {
      assert.equal(pages.servedSince(other).ports.length, 2, other);
    }
    Object.assign(table, { contents: { frontendsVersion: 8 } });
    const later = pages.servedSince(version);
    assert.equal(later.ports.length, 2);
    assert.notEqual(later.version, version);
  });

  it('says which Services reject or drop connections, at an address that is served', () => {
    const forward = { action: 'forward', list: 'cluster', masquerade: false } as const;
    const drop = { action: 'drop' } as const;
    const withOutcome = (name: string, outside: typeof forward | typeof drop): Forwarding => {
      const row = rowOf(name, 1);
      const frontends = row.frontends.map((each) => ({
        ...each,
        // An address that is not served keeps its outcome, which counts for nothing.
        outcomes: each.notServed ? each.outcomes : { pod: forward, host: forward, outside },
      }));
      return { ...row, frontends };
    };
    const rows = [rowOf('a', 0), withOutcome('b', drop), withOutcome('c', forward)];
    const { pages } = pagesOf(rows);
    assert.deepEqual(
      pages.servedSince().ports.map(([, , verdict]) => verdict),
      ['reject', 'drop', undefined],
    );
  });

  it('lists the served addresses of some Services, without those that are gone', () => {
    const { pages } = pagesOf([rowOf('a', 0), rowOf('b', 0), rowOf('c', 0)]);
    const { ports, lastService } = pages.servedOf(['shop/c', 'shop/gone', 'shop/a']);
    assert.deepEqual(
      ports.map(([key]) => key),
      ['shop/c:http/TCP/IPv4', 'shop/a:http/TCP/IPv4'],
    );
    assert.equal(lastService, undefined);
  });

  it('reads the counters of the requested rows only, and gives no other', async () => {
    const [web, dns, none] = [rowOf('web', 2), rowOf('dns', 1), rowOf('none', 0)];
    const count = (row: Forwarding) => ({
      ...{ service: keyOf(row), endpoint: 'a', connections: 1, bytes: 0 },
    });
    const { pages, asked } = pagesOf([web, dns, none], [count(web), count(dns)]);
    const { value } = await pages.counts([keyOf(web), keyOf(none), 'shop/gone/TCP/IPv4', '', '//']);
    assert.deepEqual(asked, [[web]]);
    assert.deepEqual(value, { counts: [count(web)], empty: [keyOf(none)], leftOut: [] });
  });

  it('leaves out rows with more endpoints than one answer may cost', async () => {
    const rows = [rowOf('a', 1500), rowOf('large', 80_000), rowOf('b', 300)];
    const { pages, asked } = pagesOf(rows);
    const { value } = await pages.counts(rows.map(keyOf));
    assert.deepEqual(
      asked[0]?.map(({ id }) => id.service),
      ['a', 'b'],
    );
    assert.deepEqual(value.leftOut, [keyOf(rows[1] ?? rowOf('', 0))]);
  });

  it('answers its paths, and no others', async () => {
    const { pages } = pagesOf([rowOf('web', 1)]);
    for (const path of [
      TRAFFIC_PATHS.served,
      TRAFFIC_PATHS.servedAfter('shop/a%2f'),
      TRAFFIC_PATHS.servedSince('run-7'),
      TRAFFIC_PATHS.servedOf(['shop/web', 'x,y/%']),
      TRAFFIC_PATHS.counts(['shop/web:http/TCP/IPv4', 'x,y/%']),
      TRAFFIC_PATHS.rejected,
      TRAFFIC_PATHS.totals,
      '/counters/of/%E0%A4%A,%',
    ]) {
      assert.ok(JSON.stringify(await trafficAnswer(path, pages)?.()), path);
    }
    for (const path of ['/', '/counters', '/served/x', '/served/after/%E0%A4%A', '/totals/']) {
      assert.equal(trafficAnswer(path, pages), undefined, path);
    }
  });
});
