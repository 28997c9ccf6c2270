import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServedPort } from '../../agent/servers/traffic-pages.ts';
import { DotField, type DotTraffic } from './dots.ts';
import { search } from './search.ts';

const port = (service: string, verdict?: 'reject' | 'drop', number = 80): ServedPort => {
  const key = `${service}:p${number}/TCP/IPv4`;
  const frontends = [['10.96.0.7', number] as const, ['', 30_000 + number] as const];
  return verdict === undefined ? [key, frontends] : [key, frontends, verdict];
};

const QUIET: DotTraffic = { busy: new Set(), used: [], waiting: new Set() };

function fieldOf(...ports: readonly ServedPort[]): DotField {
  const field = new DotField();
  field.take(ports);
  return field;
}

describe('the dots of all Services', () => {
  it('are by namespace, each Service once whatever its ports', () => {
    const field = fieldOf(port('shop/web'), port('mail/smtp'), port('shop/web', undefined, 443));
    assert.deepEqual(field.dots(), {
      version: 1,
      count: 2,
      namespaces: [
        { name: 'mail', services: ['smtp'], states: 'q' },
        { name: 'shop', services: ['web'], states: 'q' },
      ],
    });
  });

  it('show the worst state of a Service', () => {
    const field = fieldOf(
      port('a/dropped', 'drop'),
      port('a/rejected', 'drop'),
      port('a/rejected', 'reject', 443),
      port('a/busy'),
      port('a/used'),
      port('a/waiting'),
    );
    field.observe({
      busy: new Set(['a/busy', 'a/dropped']),
      used: ['a/used'],
      waiting: new Set(['a/waiting']),
    });
    assert.equal(field.dots().namespaces[0]?.states, 'blnuw');
  });

  it('tell what changed, and the rest with the next tick', () => {
    const field = fieldOf(port('a/one'), port('a/two'), port('a/three'));
    field.observe({ ...QUIET, busy: new Set(['a/one', 'a/two', 'a/three']) });
    const first = field.changes(2);
    assert.equal(first.length, 2);
    const all = [...first, ...field.changes(2)].sort(([a], [b]) => a - b);
    assert.deepEqual(all, [
      [0, 'b'],
      [1, 'b'],
      [2, 'b'],
    ]);
    assert.deepEqual(field.changes(2), []);
    field.observe(QUIET);
    assert.deepEqual(
      field.changes(9).map(([, state]) => state),
      ['u', 'u', 'u'],
    );
  });

  it('keep their numbers while no Service comes or goes', () => {
    const field = fieldOf(port('a/one'), port('a/two'));
    field.patch(['a/two'], [port('a/two', 'reject')]);
    field.take([port('a/one'), port('a/two', 'reject')]);
    assert.equal(field.version, 1);
    assert.deepEqual(field.changes(9), [[1, 'n']]);
    field.patch(['a/new', 'a/one'], [port('a/new')]);
    assert.equal(field.version, 2);
    assert.deepEqual(field.dots().namespaces[0]?.services, ['new', 'two']);
    assert.deepEqual(field.changes(9), []);
  });
});

describe('a search', () => {
  const field = fieldOf(
    port('shop/web'),
    port('shop/web-admin'),
    port('web/cart'),
    port('mail/in'),
  );

  it('finds whole names before beginnings before parts', () => {
    const { found } = search(field, 'WEB');
    assert.deepEqual(
      found.map(({ service, index }) => [service, index]),
      [
        ['shop/web', 1],
        ['shop/web-admin', 2],
        ['web/cart', 3],
      ],
    );
  });

  it('finds addresses and node ports', () => {
    assert.equal(search(field, '10.96.0.7:80').found.length, 4);
    assert.equal(search(field, '30080').found[0]?.by, 'node port 30080');
    assert.deepEqual(search(field, '10.96.1').found, []);
  });

  it('gives at most 50, and says how many more there are', () => {
    const many = fieldOf(...Array.from({ length: 120 }, (_, index) => port(`a/s${index}`)));
    const { found, more } = search(many, 'a/');
    assert.deepEqual([found.length, more], [50, 70]);
  });
});
