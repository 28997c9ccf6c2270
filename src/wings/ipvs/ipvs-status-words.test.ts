import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { snapshotWith } from '../../agent/servers/testing/example-conditions.ts';
import { statusView } from '../../commands/status/status-view.ts';
import { IPVS_STATUS_WORDS, type IpvsPage } from './ipvs-status-words.ts';
import type { IpvsReport } from './plane/ipvs-report.ts';

const REPORT: IpvsReport = {
  virtualServers: 12,
  destinations: 60,
  drainingDestinations: 0,
  activeConnections: 1,
  inactiveConnections: 4000,
  schedulers: [
    { name: 'mh', virtualServers: 2 },
    { name: 'rr', virtualServers: 10 },
  ],
};
const CONTENTS = { services: 2, frontends: 12, endpoints: 60 };

function lines(more: Partial<IpvsPage>, isVerbose = false): string[] {
  const page = {
    ...snapshotWith({ rows: { desired: 5, applied: 5, pending: 0 }, atMs: 3_600_000 * 5 }),
    mode: 'ipvs',
    contents: CONTENTS,
    ...more,
  };
  const words = IPVS_STATUS_WORDS;
  return stripVTControlCharacters(statusView(page, { isVerbose, words })).split('\n');
}

describe('status of a node with IPVS', () => {
  it('has a line for virtual servers and connections, the most frequent scheduler first', () => {
    const [, , line] = lines({ ipvs: REPORT });
    assert.equal(line, 'ipvs: 12 virtual servers (10 rr, 2 mh), 1 active connection');
  });

  it('counts draining destinations, and stays within 80 columns', () => {
    const names = ['dh', 'lblcr', 'lc', 'mh', 'rr'];
    const schedulers = names.map((name, n) => ({ name, virtualServers: 10_000 * (n + 1) }));
    const ipvs = {
      ...REPORT,
      virtualServers: 150_000,
      drainingDestinations: 1234,
      activeConnections: 2_500_000,
      schedulers,
    };
    const all = lines({ ipvs }, true);
    assert.ok(all.every((line) => line.length <= 80));
    assert.match(
      all.join(' '),
      /150,000 virtual servers \(50,000 rr, 40,000 mh, 30,000 lc, …\), 2,500,000 active connections, 1,234 destinations draining/,
    );
  });

  it('explains each count with -v', () => {
    const all = lines({ ipvs: REPORT }, true);
    for (const line of [
      /^12 +virtual servers: an address, a protocol and a port each$/,
      /^10 +of these, with scheduler rr$/,
      /^60 +destinations that get new connections$/,
      /^4,000 +inactive connections: ending, ended, or not of TCP$/,
    ]) {
      assert.ok(
        all.some((each) => line.test(each)),
        String(line),
      );
    }
  });

  it('names the first Services whose annotation is ignored', () => {
    const first = ['a/a', 'b/b', 'c/c', 'd/d'].map((service) => ({
      service,
      fault: 'fairlead.dev/ipvs-scheduler: rr has no flags, and "x" is given',
    }));
    const contents = { ...CONTENTS, ignoredSchedulers: { count: 7, first } };
    const all = lines({ ipvs: REPORT, contents });
    assert.match(all.slice(0, 2).join(' '), /^! the scheduler of a\/a is ignored: .*"x" is/);
    assert.ok(all.includes('! the annotations of 4 more Services are ignored'));
    const inOtherModes = lines({ contents });
    assert.ok(!inOtherModes.some((line) => line.startsWith('!')));
  });

  it('names the namespaces with rows for which IPVS has no room', () => {
    const namespaces = [
      { name: 'hostile', rowCount: 1_046 },
      { name: 'other', rowCount: 3 },
    ];
    const all = lines({ ipvs: { ...REPORT, declined: { rowCount: 1_049, namespaces } } });
    assert.equal(
      all.slice(0, 2).join(' '),
      '! IPVS has no room for 1,049 rows: namespace hostile (1,046), other (3)   next: nftables serves them, without scheduler; see docs/limits.md',
    );
  });

  it('says why the counts could not be read', () => {
    const ipvsFailure = { code: 'X', message: 'no such family', next: 'load ip_vs', atMs: 0 };
    const all = lines({ ipvsFailure });
    assert.equal(all[0], '! the counts of IPVS could not be read: no such family');
    assert.equal(all[1]?.trim(), 'next: load ip_vs');
  });
});
