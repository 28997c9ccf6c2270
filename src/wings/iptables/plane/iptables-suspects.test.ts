import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rowChainNames } from './chain-names.ts';
import { rulesOf } from './iptables-row.ts';
import { Suspects } from './iptables-suspects.ts';
import { concernedRows } from './suspect-view.ts';
import { SETTING, upstreamRows } from './testing/iptables-rows.ts';

const event = (table: string, name: string, family: 'ip' | 'ip6' = 'ip') =>
  ({ kind: 'rule', family, table, name }) as const;

it('suspects a few chains one by one, in their family and table', () => {
  const suspects = new Suspects();
  suspects.note(event('nat', 'PREROUTING'));
  suspects.note(event('nat', 'PREROUTING'));
  suspects.note(event('filter', 'KUBE-FORWARD', 'ip6'));
  assert.deepEqual(suspects.of('IPv4'), new Map([['nat', new Set(['PREROUTING'])]]));
  assert.deepEqual(suspects.of('IPv6'), new Map([['filter', new Set(['KUBE-FORWARD'])]]));
  assert.equal(suspects.isEverything, false);
});

it('suspects the whole table for many chains or a deleted table', () => {
  const suspects = new Suspects();
  for (let index = 0; index < 5; index++) suspects.note(event('nat', `KUBE-SEP-${index}`));
  suspects.note({ kind: 'table', family: 'ip', table: 'filter', name: '' });
  assert.deepEqual(suspects.of('IPv4').get('nat'), 'all');
  assert.deepEqual(suspects.of('IPv4').get('filter'), 'all');
});

it('compares only rows that may have rules in the reported chains', () => {
  const rows = upstreamRows().filter(({ id }) => id.family === 'IPv4');
  const concerned = (table: string, name: string): string[] => {
    const suspects = new Suspects();
    suspects.note(event(table, name));
    return concernedRows(suspects.of('IPv4'), rows).map(({ id }) => `${id.service}:${id.port}`);
  };
  const [plain] = rows;
  assert.ok(plain);
  assert.deepEqual(concerned('nat', 'PREROUTING'), []);
  assert.deepEqual(concerned('nat', 'KUBE-POSTROUTING'), []);
  assert.deepEqual(concerned('mangle', 'KUBE-PROXY-CANARY'), []);
  assert.deepEqual(concerned('nat', rowChainNames(plain.id).cluster), ['plain:']);
  assert.equal(concerned('nat', 'KUBE-SERVICES').length, rows.length);
  assert.equal(concerned('nat', 'KUBE-SEP-A').length, rows.length);
  assert.deepEqual(concerned('filter', 'KUBE-EXTERNAL-SERVICES'), ['lb:web', 'lb:other']);
});

it('compares every row with a rule in filter for filter', () => {
  const suspects = new Suspects();
  suspects.note(event('filter', 'KUBE-SERVICES'));
  const rows = upstreamRows();
  const concerned = new Set(concernedRows(suspects.of('IPv4'), rows));
  for (const row of rows) {
    const isInFilter = rulesOf(row, SETTING).dispatch.some(({ table }) => table === 'filter');
    assert.ok(concerned.has(row) || !isInFilter, row.id.service);
  }
});
