import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { snapshotWith } from '../../agent/servers/testing/conditions.ts';
import type { ForwarderProcess, ForwarderReport } from '../../dataplanes/contract.ts';
import { statusView } from './view.ts';

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
  const page = { ...snapshotWith({}), mode: 'userspace' as const, forwarder };
  const lines = stripVTControlCharacters(statusView(page)).split('\n');
  return lines.filter((line) => /forwarder|full/.test(line));
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
