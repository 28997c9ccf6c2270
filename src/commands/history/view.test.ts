import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointMove, EndpointState, Happening } from '../../agent/history/history-entry.ts';
import type { DatedEntry, HistoryPage } from '../../agent/history/history-page.ts';
import { colours } from '../terminal/colour.ts';
import { headline, tallyOf } from './headline.ts';
import { historyText } from './history-text.ts';
import { sentenceOf } from './sentence.ts';

const AT_MS = Date.parse('2026-11-17T14:02:11.204Z');
const FORM = { width: 80, colours: colours({}, {}) };

let seq = 0;

function entry(what: Happening, more: Partial<DatedEntry> = {}): DatedEntry {
  return { seq: ++seq, service: 'shop/web', atMs: AT_MS, ageMs: 5_000, what, ...more };
}

function move(from: EndpointState | undefined, to: EndpointState | undefined, ...first: string[]) {
  const endpoints = { first, count: first.length };
  return { ...(from ? { from } : {}), ...(to ? { to } : {}), endpoints };
}

function endpoints(slice: string, ...moves: EndpointMove[]): Happening {
  const writers = [
    { manager: 'kubectl-edit', operation: 'Update', subresource: '', atMs: AT_MS - 204 },
  ];
  const about = { change: 'changed', fields: [], resourceVersion: '48213', writers } as const;
  return { kind: 'endpoints', slice, moves, ...about };
}

function page(entries: readonly DatedEntry[], more: Partial<HistoryPage> = {}): HistoryPage {
  return {
    run: 'a',
    entries,
    hasMore: false,
    begunAtMs: 0,
    completeSinceMs: 0,
    completeForMs: 3_600_000,
    droppedCount: 0,
    now: { exists: true, endpoints: 1, ready: 1 },
    ...more,
  };
}

const REPAIRED: Happening = {
  kind: 'repaired',
  reason: 'drift',
  wrongRows: 0,
  differences: { first: [], count: 1 },
  services: [],
};

const ASKED = { service: 'shop/web', withinMs: 600_000 };

describe('the first line', () => {
  it('answers how many endpoints left, joined and changed', () => {
    const left = entry(
      endpoints('a', move('ready', undefined, '10.0.0.1', '10.0.0.2', '10.0.0.3')),
    );
    assert.equal(
      headline(page([left]), ASKED),
      'shop/web: 3 of 4 endpoints left in the last 10 min; 1 endpoint now, 1 ready',
    );
    const late = entry(endpoints('a', move('ready', 'not ready', '10.0.0.4')));
    const more = headline(
      page([left, late], { now: { exists: true, endpoints: 1, ready: 0 } }),
      ASKED,
    );
    assert.match(more, /3 of 4 endpoints left, 1 endpoint became not ready in the last 10 min/);
  });

  it('does not count an endpoint that moved from one slice to another as left', () => {
    const entries = [
      entry(endpoints('b', move(undefined, 'ready', '10.0.0.1'))),
      entry(endpoints('a', move('ready', undefined, '10.0.0.1'))),
    ];
    const { left, joined, flapped } = tallyOf(entries);
    assert.deepEqual({ left, joined, flapped }, { left: 0, joined: 0, flapped: 1 });
  });

  it('says how far the history goes back where it is shorter than asked', () => {
    const short = page([], { completeForMs: 90_000 });
    assert.match(headline(short, ASKED), /no change in the last 90 s, since the agent started;/);
    const full = page([], { completeForMs: 90_000, completeSinceMs: 1 });
    assert.match(headline(full, ASKED), /no change in the last 90 s, as far as the history goes/);
  });

  it('says that the Service does not exist now', () => {
    const gone = page(
      [entry({ kind: 'service', change: 'deleted', fields: [], resourceVersion: '', writers: [] })],
      {
        now: { exists: false, endpoints: 0, ready: 0 },
      },
    );
    assert.match(headline(gone, ASKED), /Service deleted in .*; the Service does not exist now$/);
  });

  it('counts external changes and repairs where no Service changed', () => {
    const drift = entry(
      { kind: 'drift', what: 'table deleted', isOwn: false },
      { service: '', again: { count: 2, lastAtMs: AT_MS } },
    );
    const repaired = entry(REPAIRED, { service: '', kernel: 'kernel' });
    const open = entry(REPAIRED, { service: '', kernel: 'waiting' });
    const { now: _, ...all } = page([drift, repaired, open]);
    assert.equal(
      headline(all, { withinMs: 600_000 }),
      'no Service changed, 3 external changes, 1 repair, 1 difference of the kernel not repaired in the last 10 min',
    );
  });

  it('adds up nothing from before the start of the agent', () => {
    const old = entry(endpoints('a', move('ready', undefined, '10.0.0.1')));
    const started = entry({ kind: 'started', mode: 'nftables', version: '1', continues: true });
    const { now: _, ...all } = page([old, { ...started, service: '' }], {
      startedSeq: started.seq,
    });
    assert.equal(headline(all, { withinMs: 600_000 }), 'no Service changed in the last 10 min');
  });

  it('sums up all Services', () => {
    const { now: _, ...all } = page([entry(endpoints('a', move('ready', undefined, '10.0.0.1')))]);
    assert.equal(
      headline(all, { withinMs: 600_000 }),
      '1 entry about 1 Service in the last 10 min: 1 endpoint left',
    );
  });
});

describe('an entry as text', () => {
  const WHAT = endpoints('web-x7z5k', move('ready', undefined, '10.0.1.3', '10.0.1.4'));

  it('has its time, what happened, its writer, and when the kernel had it', () => {
    const text = historyText([entry(WHAT, { kernel: 'kernel', settledAfterMs: 2.14 })], FORM);
    assert.equal(
      text,
      [
        '2026-11-17 UTC',
        '14:02:11.204  shop/web: 10.0.1.3, 10.0.1.4 left, were ready',
        '              slice web-x7z5k, version 48213, written by kubectl-edit (Update)',
        '              at 14:02:11, in the kernel after 2.1 ms',
      ].join('\n'),
    );
  });

  it('says that it is not in the kernel yet, or not needed there', () => {
    assert.match(historyText([entry(WHAT, { kernel: 'waiting' })], FORM), /not in the kernel yet/);
    assert.match(historyText([entry(WHAT, { kernel: 'unneeded' })], FORM), /no rule of this node/);
  });

  it('says of merged repairs how long they took at most', () => {
    const again = { count: 3, lastAtMs: AT_MS + 33_500 };
    const repaired = entry(REPAIRED, { kernel: 'kernel', settledAfterMs: 140, again });
    assert.match(historyText([repaired], FORM), /repaired after at most 140 ms, 3 more times/);
    const open = entry(REPAIRED, { kernel: 'waiting' });
    assert.match(historyText([open], FORM), /not repaired yet, after 5/);
  });

  it('does not name the writer of an earlier change as that of this one', () => {
    const later = historyText([entry(WHAT, { atMs: AT_MS + 120_000 })], FORM).replaceAll(
      /\s+/g,
      ' ',
    );
    assert.match(later, /writer not recorded, before that kubectl-edit \(Update\) at 14:02:11/);
  });

  it('is harmless on a terminal, and at most 80 columns wide, whatever the names', () => {
    const hostile = '\x1b[2Jx\ny\u202e'.repeat(40);
    const writers = [{ manager: hostile, operation: hostile, subresource: hostile, atMs: AT_MS }];
    const about = { change: 'changed', resourceVersion: hostile, writers } as const;
    const fields = [{ field: hostile, before: hostile, after: hostile }];
    const whats: Happening[] = [
      {
        kind: 'endpoints',
        slice: hostile,
        moves: [move('ready', undefined, hostile)],
        fields,
        ...about,
      },
      { kind: 'service', fields, ...about },
      { kind: 'drift', what: hostile, isOwn: false, by: { pid: 1, program: hostile } },
      { kind: 'rejected', rows: 1, code: hostile, message: hostile, isAll: false },
    ];
    const text = historyText(
      whats.map((what) => entry(what, { service: hostile })),
      FORM,
    );
    assert.doesNotMatch(text, /(?!\n)[\p{Cc}\u202e]/u);
    const lines = text.split('\n');
    assert.ok(lines.every(({ length }) => length <= 80));
    assert.ok(
      lines.every((line) => !line.startsWith('y')),
      'no line begins with text of others',
    );
  });
});

describe('sentenceOf', () => {
  const cases: readonly [Happening, RegExp][] = [
    [
      { kind: 'started', mode: 'ipvs', version: '1.2' },
      /the history begins here: what was before is not known/,
    ],
    [{ kind: 'condition', name: 'apiFresh', isTrue: false }, /^no watch to the API server/],
    [
      { kind: 'drift', what: 'table deleted', isOwn: false, by: { pid: 7, program: 'nft' } },
      /^nft \(pid 7\) changed objects of fairlead: table deleted$/,
    ],
    [
      {
        kind: 'repaired',
        reason: 'drift',
        wrongRows: 2,
        differences: { first: ['missing: a', 'missing: b', 'c'], count: 9 },
        services: ['shop/web:http'],
      },
      /9 differences \(missing: a, missing: b and 7 more\), 2 rows of shop\/web:http written again$/,
    ],
    [
      {
        kind: 'flows',
        reason: 'endpoint is gone',
        count: 3,
        endpoints: { first: ['10.0.0.1:53'], count: 1 },
      },
      /^3 conntrack entries deleted, of 10\.0\.0\.1:53: endpoint is gone$/,
    ],
    [
      {
        kind: 'configuration',
        field: 'mode',
        before: '"nftables"',
        after: '"ipvs"',
        inForce: 'after a restart',
      },
      /^configuration: mode from "nftables" to "ipvs", in force after a restart$/,
    ],
  ];
  for (const [what, expected] of cases) {
    it(`tells ${what.kind}`, () => assert.match(sentenceOf(what), expected));
  }
});
