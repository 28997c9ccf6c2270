import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mayConcernRows } from './suspect-view.ts';
import { Suspects } from './suspects.ts';

const event = (table: string, name: string, family: 'ip' | 'ip6' = 'ip') =>
  ({ kind: 'rule', family, table, name }) as const;

it('a few chains are suspected one by one, in their family and table', () => {
  const suspects = new Suspects();
  suspects.note(event('nat', 'PREROUTING'));
  suspects.note(event('nat', 'PREROUTING'));
  suspects.note(event('filter', 'KUBE-FORWARD', 'ip6'));
  assert.deepEqual(suspects.of('IPv4'), new Map([['nat', new Set(['PREROUTING'])]]));
  assert.deepEqual(suspects.of('IPv6'), new Map([['filter', new Set(['KUBE-FORWARD'])]]));
  assert.equal(suspects.isEverything, false);
});

it('many chains, or a table that went, are the whole table', () => {
  const suspects = new Suspects();
  for (let index = 0; index < 5; index++) suspects.note(event('nat', `KUBE-SEP-${index}`));
  suspects.note({ kind: 'table', family: 'ip', table: 'filter', name: '' });
  assert.deepEqual(suspects.of('IPv4').get('nat'), 'all');
  assert.deepEqual(suspects.of('IPv4').get('filter'), 'all');
});

it('rows are compared only if what was touched can hold something of theirs', () => {
  const concerns = (table: string, name: string): boolean => {
    const suspects = new Suspects();
    suspects.note(event(table, name));
    return mayConcernRows(suspects.of('IPv4'));
  };
  assert.equal(concerns('nat', 'PREROUTING'), false);
  assert.equal(concerns('nat', 'KUBE-POSTROUTING'), false);
  assert.equal(concerns('mangle', 'KUBE-PROXY-CANARY'), false);
  assert.equal(concerns('nat', 'KUBE-SERVICES'), true);
  assert.equal(concerns('nat', 'KUBE-SEP-A'), true);
  assert.equal(concerns('filter', 'KUBE-EXTERNAL-SERVICES'), true);
});
