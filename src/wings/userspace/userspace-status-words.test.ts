import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import {
  condition,
  conditionsWith,
  snapshotWith,
} from '../../agent/servers/testing/example-conditions.ts';
import { type StatusForm, statusView } from '../../commands/status/status-view.ts';
import type { Attachment } from '../../dataplanes/contract.ts';
import type { ForwarderProcess, ForwarderReport } from './plane/forwarder-report.ts';
import { type ForwarderPage, USERSPACE_STATUS_WORDS } from './userspace-status-words.ts';

const TABLES: readonly Attachment[] = [
  { place: 'nftables', name: 'table ip fairlead', isAttached: true },
  { place: 'nftables', name: 'table ip6 fairlead', isAttached: true },
];

function page(more: Partial<ForwarderPage> = {}): ForwarderPage {
  return {
    ...snapshotWith({ rows: { desired: 5, applied: 5, pending: 0 }, atMs: 3_600_000 * 5 }),
    mode: 'userspace',
    contents: { services: 2, frontends: 2500, endpoints: 1 },
    attachments: TABLES,
    ...more,
  };
}

function lines(shown: ForwarderPage, form?: StatusForm): string[] {
  const text = statusView(shown, { ...form, words: USERSPACE_STATUS_WORDS });
  return stripVTControlCharacters(text).split('\n');
}

const SILENT: ForwarderReport = { newConnectionsTo: 'forwarder', startCount: 1, handedOver: 0 };
const PROCESS: ForwarderProcess = {
  pid: 4711,
  threadCount: 2,
  mostConnections: 32_256,
  totals: {
    ...{ connections: 0, open: 0, bytesToEndpoint: 0, bytesToClient: 0, connectMicroseconds: 0 },
    ...{ refused: 0, timedOut: 0, avoidedEndpoints: 0, failed: 0, unknownFrontend: 0 },
  },
};

function told(forwarder: ForwarderReport): string[] {
  return lines(page({ forwarder })).filter((line) => /forwarder|full/.test(line));
}

describe('a forwarder in the status', () => {
  it('is not called full while it does not answer', () => {
    assert.deepEqual(told(SILENT), [
      '! the forwarder does not answer: its connections are not counted',
      'forwarder: no answer; new connections still go to it',
    ]);
  });

  it('is not called full where it holds no connection at all', () => {
    assert.deepEqual(told({ ...SILENT, process: { ...PROCESS, mostConnections: 0 } }), [
      'forwarder: pid 4711, 2 threads, 0 of 0 connections',
    ]);
  });

  it('is called nearly full from four fifths of its room', () => {
    const open = (count: number) => ({ ...PROCESS, totals: { ...PROCESS.totals, open: count } });
    assert.match(
      told({ ...SILENT, process: open(25_805) })[0] ?? '',
      /^! .*nearly full: 25,805 of/,
    );
    assert.equal(told({ ...SILENT, process: open(25_804) }).length, 1);
  });
});

const FORWARDER: ForwarderReport = {
  process: {
    pid: 4711,
    threadCount: 2,
    mostConnections: 32_256,
    totals: {
      connections: 40,
      open: 312,
      bytesToEndpoint: 300,
      bytesToClient: 9_400_000,
      connectMicroseconds: 20_000,
      refused: 3,
      timedOut: 1,
      avoidedEndpoints: 2,
      failed: 5,
      unknownFrontend: 4,
    },
  },
  newConnectionsTo: 'forwarder',
  startCount: 1,
  handedOver: 31,
};

describe('status of a node with a forwarder', () => {
  const of = (more: Partial<ForwarderReport> = {}): ForwarderPage =>
    page({ forwarder: { ...FORWARDER, ...more } });

  it('has a line for its process, threads and connections', () => {
    const [first, , line] = lines(of());
    assert.equal(first, 'node1: userspace, ready; 2 tables in place');
    assert.equal(line, 'forwarder: pid 4711, 2 threads, 312 of 32,256 connections');
  });

  it('says first that new connections go to the kernel, and why', () => {
    const why = 'it ended (SIGKILL) 2 s ago';
    const { process: _, ...noProcess } = FORWARDER;
    const text = lines(page({ forwarder: { ...noProcess, newConnectionsTo: 'kernel', why } }));
    assert.match(text.slice(0, 2).join(' '), /! new TCP connections go to the kernel.*SIGKILL/);
    assert.ok(text.includes('forwarder: no answer; new connections go to the kernel'));
    const drift = { what: 'the forwarder ended', isOwn: true, atMs: 0 } as const;
    const listeners: Attachment = { place: 'forwarder', name: 'listeners', isAttached: false };
    const again = page({
      forwarder: { ...noProcess, newConnectionsTo: 'kernel', why },
      drifts: [drift],
      conditions: conditionsWith({
        undisturbed: { ...condition(false), why: 'the forwarder ended' },
      }),
      attachments: [listeners, ...TABLES],
    });
    assert.equal(lines(again).filter((line) => line.startsWith('!')).length, 1, 'told once');
    const full = lines(of({ newConnectionsTo: 'kernel', why: 'it is full' }));
    assert.ok(full.some((line) => line.endsWith('connections; new ones go to the kernel')));
  });

  it('counts no listeners beside the tables', () => {
    const process: Attachment = { place: 'forwarder', name: 'process', isAttached: true };
    const [first] = lines(page({ attachments: [process, ...TABLES] }));
    assert.equal(first, 'node1: userspace, ready; 2 tables in place');
  });

  it('warns before it is full', () => {
    const { process } = FORWARDER;
    assert.ok(process);
    const totals = { ...process.totals, open: 30_000 };
    const [first] = lines(of({ process: { ...process, totals } }));
    assert.equal(first, '! the forwarder is nearly full: 30,000 of 32,256 connections');
  });

  it('names the tenants for whose rows it has no room', () => {
    const namespaces = [
      { name: 'evil', rowCount: 1_040 },
      { name: 'greedy', rowCount: 9 },
    ];
    const [first] = lines(of({ declined: { rowCount: 1_049, namespaces } }));
    assert.equal(
      first,
      '! the forwarder has no room for 1,049 rows: namespace evil (1,040), greedy (9)',
    );
  });

  it('counts with -v what it did, within 80 columns', () => {
    const text = lines(of({ translatedByKernel: 7 }), { isVerbose: true });
    for (const line of text) assert.ok(line.length <= 80, line);
    assert.ok(text.some((line) => /^0\.5 ms +average time until/.test(line)));
    assert.ok(text.some((line) => /^9\.4 MB +from endpoints to clients$/.test(line)));
    assert.ok(text.some((line) => /^7 +TCP connections that the kernel took instead$/.test(line)));
  });
});
