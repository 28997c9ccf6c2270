import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Change } from './protocol/changes-answer.ts';
import type { ViewTick } from './protocol/tick.ts';
import type { MapService } from './protocol/traffic-tick.ts';
import { fittedTick, MOST_TICK_BYTES } from './session.ts';

const LONG = '"\u00e4'.repeat(300);

const change = (seq: number): Change => ({
  seq,
  service: 'shop/web',
  atMs: 0,
  kind: 'endpoints',
  tone: 'usual',
  sentence: LONG,
});

const service = (number: number): MapService => ({
  service: `${LONG}${number}`,
  protocol: 'TCP',
  family: 'IPv4',
  endpoints: 1,
});

function tickWith(fields: Partial<ViewTick> & { readonly services?: number }): ViewTick {
  const { services = 0, ...rest } = fields;
  return {
    tick: 1,
    atMs: 0,
    seconds: 1,
    totals: { busyPorts: 0, measuredPorts: 0, knownPorts: 0 },
    rows: { desired: 0, applied: 0, pending: 0, failing: 0 },
    map: {
      sources: {},
      services: Array.from({ length: services }, (_, index) => service(index)),
      others: { ports: 0 },
      ends: [],
    },
    dots: { changed: Array.from({ length: 400 }, () => [49_999, 'b'] as const) },
    changes: [],
    changesLeftOut: 0,
    isReady: true,
    troubles: [],
    ages: { sharesOver: 30, events: 'complete' },
    notes: [],
    ...rest,
  };
}

it('sends a small tick as it is', () => {
  const tick = tickWith({ changes: [change(2)], services: 2 });
  assert.equal(fittedTick(tick), JSON.stringify(tick));
});

it('leaves out changes of a large tick, and says how many', () => {
  const changes = Array.from({ length: 20 }, (_, index) => change(20 - index));
  const json = fittedTick(tickWith({ changes, changesLeftOut: 3 }));
  assert.ok(Buffer.byteLength(json) <= MOST_TICK_BYTES);
  const tick = JSON.parse(json) as ViewTick;
  assert.ok(tick.changes.length > 0);
  assert.equal(tick.changes[0]?.seq, 20);
  assert.equal(tick.changes.length + tick.changesLeftOut, 23);
});

it('keeps to its bounds with the longest names and texts', () => {
  const troubles = Array.from({ length: 8 }, () => ({ what: LONG, next: LONG }));
  const changes = Array.from({ length: 20 }, (_, index) => change(index));
  const tick = tickWith({ changes, troubles, notes: [LONG, LONG], services: 10 });
  const json = fittedTick(tick);
  assert.ok(Buffer.byteLength(json) <= MOST_TICK_BYTES, `${json.length}`);
  assert.equal((JSON.parse(json) as ViewTick).troubles.length, 1);
});
