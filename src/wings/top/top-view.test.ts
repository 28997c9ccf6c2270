import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { colours } from '../../commands/terminal/colour.ts';
import { tickLines } from './top-view.ts';
import type { Tick } from './traffic-figures.ts';

const PLAIN = colours({}, {});
const WEB = { service: 'shop/web:http', protocol: 'TCP', family: 'IPv4' } as const;

const TICK: Tick = {
  tick: 3,
  mode: 'nftables',
  by: 'service',
  seconds: 2.004,
  totals: {
    newPerSecond: 123.4,
    live: 310,
    rejectedPerSecond: 2.5,
    droppedPerSecond: 0,
    busyServices: 2,
    measuredServices: 100,
    knownServices: 50_000,
  },
  rows: [
    {
      ...WEB,
      newPerSecond: 123.4,
      live: 310,
      rejectedPerSecond: 0,
      droppedPerSecond: 0,
      endpoints: [
        { endpoint: '10.244.1.10:8080', connections: 9, newPerSecond: 30, share: 0.25 },
        { endpoint: '10.244.1.11:8080', connections: 9, newPerSecond: 90, share: 0.75 },
      ],
    },
    { ...WEB, service: 'shop/dns', protocol: 'UDP', rejectedPerSecond: 2.5, endpoints: [] },
  ],
  more: 1,
  sources: {
    countersAgeSeconds: 0.1,
    liveAgeSeconds: 14,
    refusedAgeSeconds: 0.2,
    shareSeconds: 30,
    events: 'complete',
    eventCount: 240,
  },
  notes: [],
};

describe('a tick on a terminal', () => {
  it('begins with the answer, and says how old each figure is', () => {
    assert.deepEqual(tickLines(TICK, { width: 100, colours: PLAIN }), [
      '123 new connections/s to 2 service ports, 310 live, 2.5 rejected/s, 0 packets dropped/s (the 100',
      'busiest of 50,000 service ports)',
      'mode nftables, over 2.0 s, shares of the last 30 s; counters 0 s old, live 14 s old, rejected 0 s',
      'old, events complete',
      '',
      'NEW/S  LIVE  REJ/S  DROP/S  SERVICE        ENDPOINTS',
      '  123   310      0       0  shop/web:http  2: 75 % 10.244.1.11:8080, 25 % 10.244.1.10:8080',
      '    -     -    2.5       -  shop/dns UDP   none',
      'and 1 more',
    ]);
  });

  it('names source ranges where they drop', () => {
    const rows = [{ ...WEB, droppedPerSecond: 1.5, outsideRangesPerSecond: 1.5, endpoints: [] }];
    const lines = tickLines({ ...TICK, rows }, { width: 100, colours: PLAIN });
    assert.match(
      lines.at(-2) ?? '',
      / 1\.5 {2}shop\/web:http {2}1\.5 dropped\/s by source ranges; none$/,
    );
  });

  it('is never wider than the terminal, whatever the names', () => {
    const long = { ...WEB, service: `${'n'.repeat(63)}/${'s'.repeat(63)}:${'p'.repeat(63)}` };
    const ticks: Tick[] = [
      { ...TICK, rows: [{ ...long, newPerSecond: 123_456, live: 200_000, endpoints: [] }] },
      {
        ...TICK,
        by: 'endpoint',
        rows: [{ ...long, endpoint: `[${'fd00:'.repeat(7)}1]:65535`, connections: 1 }],
      },
      {
        ...TICK,
        by: 'client',
        rows: [{ client: 'fd00:1:2:3:4:5:6:7', live: 3, service: long.service, serviceCount: 4 }],
      },
    ];
    for (const tick of ticks) {
      for (const width of [20, 39, 40, 79, 80, 200]) {
        for (const line of tickLines(
          { ...tick, notes: ['one two '.repeat(20)] },
          { width, colours: PLAIN },
        )) {
          assert.ok(line.length <= width, `${width}: ${line}`);
        }
      }
    }
  });

  it('shows the name of a Service at 40 columns, and leaves out the last column', () => {
    const text = tickLines(TICK, { width: 44, colours: PLAIN }).join('\n');
    assert.match(text, /shop\/web:http/);
    assert.doesNotMatch(text, /10\.244/);
  });

  it('writes what acts on a terminal as an escape', () => {
    const hostile = { ...WEB, service: 'x\x1b[2J\x1b]0;t\x07\nforged\r\u202e', endpoints: [] };
    const lines = tickLines({ ...TICK, rows: [hostile] }, { width: 120, colours: PLAIN });
    assert.equal(
      lines.length,
      tickLines({ ...TICK, rows: [{ ...WEB, endpoints: [] }] }, { width: 120, colours: PLAIN })
        .length,
    );
    assert.doesNotMatch(lines.join(''), /[\p{Cc}\u202e]/u);
  });

  it('has colours on a terminal only, and the same text without them', () => {
    const noted = { ...TICK, notes: ['something is missing'] };
    const of = (each: ReturnType<typeof colours>) =>
      tickLines(noted, { width: 80, colours: each }).join('\n');
    const coloured = of(colours({ isTTY: true }, {}));
    assert.notEqual(coloured, of(PLAIN));
    assert.equal(stripVTControlCharacters(coloured), of(PLAIN));
    assert.equal(of(colours({ isTTY: true }, { NO_COLOR: '1' })), of(PLAIN));
  });
});
