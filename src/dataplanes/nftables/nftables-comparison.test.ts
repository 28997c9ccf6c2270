import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toEnd } from '../../forwarding/turns.ts';
import { Differences } from '../differences.ts';
import { type ElementView, emptyView } from './element-view.ts';
import { Comparison } from './nftables-comparison.ts';
import { newRowNumbers } from './row-numbers.ts';
import { row } from './testing/nftables-rows.ts';

describe('a list of source ranges that many ports of a Service share', () => {
  it('is compared once, and reported once', () => {
    const allowedSources = Array.from({ length: 500 }, (_, i) => `20.${i >> 8}.${i & 255}.0/24`);
    const differences = new Differences();
    const comparison = new Comparison({
      family: 'ip',
      view: emptyView(),
      numbers: newRowNumbers(),
      orders: new Map(),
      differences,
    });
    const rows = Array.from({ length: 40 }, (_, number) => row({ number, allowedSources }));
    const compared = rows.map((each) => toEnd(comparison.compare(each)));
    assert.equal(compared.filter(({ missingRanges }) => missingRanges !== undefined).length, 1);
    // The other elements of a row are a dozen.
    assert.ok(differences.count < 40 * 20 + 2 * 500, `${differences.count} elements`);
  });
});

describe('a row of very many endpoints', () => {
  it('is compared with pauses, however long its list is', () => {
    const endpointCount = 20_000;
    let lookups = 0;
    const look = (): undefined => {
      lookups++;
      return undefined;
    };
    const view: ElementView = {
      held: look,
      value: look,
      isWhole: true,
      isEmpty: false,
      leftovers: () => [],
    };
    const numbers = newRowNumbers();
    const known = { family: 'ip' as const, view, numbers, orders: new Map() };
    const comparison = new Comparison({ ...known, differences: new Differences() });
    const mostLookups: number[] = [];
    const clusterEndpoints = Array.from({ length: endpointCount }, (_, i) => {
      return { address: `10.1.${i >> 8}.${i & 255}`, port: 80, local: false };
    });
    for (const _ of comparison.compare({ ...row(), clusterEndpoints })) {
      mostLookups.push(lookups);
      lookups = 0;
    }
    assert.ok(mostLookups.length > endpointCount / 1024, `${mostLookups.length} pauses`);
    assert.ok(Math.max(...mostLookups) < 2 * 1024, `${Math.max(...mostLookups)} lookups at once`);
  });
});
