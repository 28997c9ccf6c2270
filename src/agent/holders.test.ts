import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Forwarding, Frontend } from '../forwarding/model.ts';
import { compare } from '../forwarding/testing/rounds.ts';
import { Holders, wantedClaims } from './holders.ts';
import type { Entry } from './outstanding-entry.ts';

const FORWARD = { action: 'forward', list: 'cluster', masquerade: true } as const;
const OUTCOMES = { pod: FORWARD, host: FORWARD, outside: FORWARD };

function frontend(address: string, more: Partial<Frontend> = {}): Frontend {
  return { kind: 'external-ip', address, port: 80, outcomes: OUTCOMES, ...more };
}

function row(frontends: readonly Frontend[]): Forwarding {
  const id = {
    namespace: 'ns',
    service: 'web',
    port: '',
    protocol: 'TCP',
    family: 'IPv4',
  } as const;
  return { id, frontends, clusterEndpoints: [], localEndpoints: [], affinitySeconds: 0 };
}

function entry(applied: Forwarding | undefined, desired: Forwarding | undefined): Entry {
  return {
    key: 'ns/web',
    id: row([]).id,
    applied: applied ?? 'absent',
    desired,
    sinceMs: 0,
    queuedAtMs: 0,
  };
}

function addresses(count: number, from = 0): Frontend[] {
  return Array.from({ length: count }, (_, i) => frontend(`198.18.${(from + i) >> 8}.${i & 0xff}`));
}

describe('Holders', () => {
  it('have a row that releases an address, until it has released it', () => {
    const holders = new Holders();
    const giver = entry(row([frontend('198.18.0.1'), frontend('198.18.0.2')]), row([]));
    giver.desired = row([frontend('198.18.0.2'), frontend('198.18.0.3')]);
    holders.add(giver);
    assert.equal(holders.get('IPv4 TCP 198.18.0.1 80'), giver);
    assert.equal(holders.get('IPv4 TCP 198.18.0.2 80'), undefined);
    assert.equal(holders.get('IPv4 TCP 198.18.0.3 80'), undefined);
    assert.deepEqual(wantedClaims(giver), ['IPv4 TCP 198.18.0.3 80']);
    holders.remove(giver);
    assert.ok(holders.isEmpty);
  });

  it('ignore a frontend that another Service owns', () => {
    const lost = row([
      frontend('198.18.0.1', { notServed: { reason: 'other-service', service: 'ns/old' } }),
    ]);
    const had = row([frontend('198.18.0.1')]);
    const holders = new Holders();
    holders.add(entry(had, lost));
    assert.ok(!holders.isEmpty);
    assert.deepEqual(wantedClaims(entry(lost, had)), ['IPv4 TCP 198.18.0.1 80']);
    assert.deepEqual(wantedClaims(entry(had, lost)), []);
    assert.deepEqual(wantedClaims(entry(lost, lost)), []);
    assert.deepEqual(wantedClaims(entry(undefined, had)), ['IPv4 TCP 198.18.0.1 80']);
  });

  it('read no addresses of rows that share their frontends', () => {
    const frontends = new Proxy([frontend('198.18.0.1')], {
      get: () => assert.fail('the frontends are read'),
    });
    const holders = new Holders();
    const changed = entry(row(frontends), row(frontends));
    holders.add(changed);
    assert.deepEqual(wantedClaims(changed), []);
  });

  it('take time in proportion to the addresses', () => {
    const work = (count: number) => {
      const moved = entry(row(addresses(count)), row(addresses(count, 4096)));
      return () => {
        const holders = new Holders();
        holders.add(moved);
        wantedClaims(moved);
        holders.remove(moved);
      };
    };
    const { times, text } = compare({ small: work(500), large: work(4000) });
    assert.ok(times <= 24, `8 times as many addresses cost ${text}`);
  });
});
