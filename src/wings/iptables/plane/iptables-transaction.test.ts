import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Forwarding } from '../../../forwarding/model.ts';
import { ownerOfLine, restoreLines } from './committer.ts';
import { rulesOf } from './iptables-row.ts';
import { type Step, Transaction } from './iptables-transaction.ts';
import { EXTERNAL, frontend, INTERNAL, NOBODY, row, SETTING } from './testing/iptables-rows.ts';

function web(endpoints: readonly string[]): Forwarding {
  const [inside, outside] =
    endpoints.length === 0 ? [NOBODY, NOBODY] : [INTERNAL('cluster'), EXTERNAL];
  return row({
    name: 'web',
    lists: ['cluster'],
    endpoints,
    frontends: [
      frontend('cluster-ip', { address: '10.96.0.9', port: 80 }, inside),
      frontend('node-port', { port: 30080 }, outside),
    ],
  });
}

function transaction(before: Forwarding | undefined, after: Forwarding | undefined): Transaction {
  const changes = new Transaction();
  const rules = { before: rulesOf(before, SETTING), after: rulesOf(after, SETTING) };
  changes.replace('t/web/TCP/IPv4', rules);
  return changes;
}

const texts = (transaction: Transaction, step: Step): string[] =>
  restoreLines(transaction.change(step));
const verbs = (lines: readonly string[]): string =>
  lines.map((line) => (line.startsWith(':') ? ':' : line.slice(0, 2))).join(' ');

describe('a transaction', () => {
  it('for one more endpoint changes two chains and no rule that jumps to them', () => {
    const changes = transaction(web(['10.1.0.1:80']), web(['10.1.0.1:80', '10.1.0.2:80']));
    assert.ok(changes.change('reject').isEmpty);
    assert.ok(changes.change('accept').isEmpty);
    assert.equal(verbs(texts(changes, 'translate')), '*n : : -A -A -A -A -A CO');
  });

  it('adds the reject rule before it removes the jump to the last endpoint', () => {
    const changes = transaction(web(['10.1.0.1:80']), web([]));
    assert.equal(verbs(texts(changes, 'reject')), '*f -A -A CO');
    assert.equal(verbs(texts(changes, 'translate')), '*n : : : -D -D -D -X -X -X CO');
    assert.ok(changes.change('accept').isEmpty);
  });

  it('removes the reject rule after it adds the jump to the first endpoint, and keeps the last rule last', () => {
    const changes = transaction(web([]), web(['10.1.0.1:80']));
    assert.ok(changes.change('reject').isEmpty);
    assert.match(texts(changes, 'translate').join('\n'), /^-I KUBE-SERVICES -d 10\.96\.0\.9/m);
    assert.match(texts(changes, 'translate').join('\n'), /^-A KUBE-NODEPORTS -p tcp/m);
    assert.equal(verbs(texts(changes, 'accept')), '*f -D -D CO');
  });

  it('has the owner of each line', () => {
    const change = transaction(undefined, web(['10.1.0.1:80'])).change('translate');
    const owners = restoreLines(change).map((_, line) => ownerOfLine(change, line));
    assert.deepEqual([owners.shift(), owners.pop()], [undefined, undefined], '*nat and COMMIT');
    assert.deepEqual(new Set(owners), new Set(['t/web/TCP/IPv4']));
  });

  it('that failed midway has the state of its completed steps', () => {
    const [before, after] = [web(['10.1.0.1:80']), web([])];
    const changes = transaction(before, after);
    const of = (...steps: Step[]) => [...changes.presentAfter(new Set(steps))][0]?.[1];
    assert.deepEqual(of(), rulesOf(before, SETTING));
    assert.deepEqual(of('reject', 'translate', 'accept'), rulesOf(after, SETTING));
    const halfway = of('reject');
    assert.deepEqual(halfway?.chains, rulesOf(before, SETTING).chains);
    assert.deepEqual(
      halfway?.dispatch.map(({ table }) => table),
      ['nat', 'nat', 'nat', 'filter', 'filter'],
    );
  });

  it('is empty for an unchanged row', () => {
    const changes = transaction(web(['10.1.0.1:80']), web(['10.1.0.1:80']));
    assert.ok(changes.change('translate').isEmpty);
  });
});
