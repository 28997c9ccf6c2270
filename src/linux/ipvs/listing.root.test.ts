import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { type IpvsWrite, type VirtualServer, virtualServerId } from './ipvs-model.ts';
import { KernelIpvs } from './kernel-ipvs.ts';
import { WITHOUT_IPVS } from './testing/load-ipvs.ts';

enterOwnNetwork();

const ipvs = new KernelIpvs();
/** On a crowded machine; a question for each server would take longer. */
const SECONDS = 20;

function servers(count: number): VirtualServer[] {
  return Array.from({ length: count }, (_, index) => ({
    protocol: 'TCP',
    address: `10.96.${index >> 8}.${index & 0xff}`,
    port: 80,
    scheduler: 'rr',
    schedulerFlags: [],
    persistenceSeconds: 0,
  }));
}

function writesOf(all: readonly VirtualServer[], destinations: number): IpvsWrite[] {
  return all.flatMap((server, index): IpvsWrite[] => [
    { do: 'add-server', server },
    ...Array.from(
      { length: destinations },
      (_, at): IpvsWrite => ({
        do: 'add-destination',
        server,
        destination: {
          address: `10.${128 + at}.${index >> 8}.${index & 0xff}`,
          port: 8080,
          weight: 1,
        },
      }),
    ),
  ]);
}

function ipvsadm(...argv: readonly string[]): void {
  run(['ipvsadm', ...argv]);
}

describe('the fingerprint of the configuration', { skip: WITHOUT_IPVS }, () => {
  beforeEach(() => {
    ipvsadm('-C');
    const lines = [
      '-A -t 10.96.0.1:80 -s rr',
      '-a -t 10.96.0.1:80 -r 10.244.0.1:80 -m',
      '-A -t 10.96.0.2:80 -s rr',
      '-a -t 10.96.0.2:80 -r 10.244.0.1:80 -m',
      '-A -t [fd00:96::1]:80 -s rr',
      '-a -t [fd00:96::1]:80 -r [fd00::1]:80 -m',
    ];
    run(['ipvsadm', '-R'], `${lines.join('\n')}\n`);
  });

  const CHANGES: readonly (readonly [what: string, ...argv: string[]])[] = [
    ['a scheduler', '-E', '-t', '10.96.0.1:80', '-s', 'lc'],
    ['persistence', '-E', '-t', '[fd00:96::1]:80', '-s', 'rr', '-p', '10'],
    ['a weight', '-e', '-t', '[fd00:96::1]:80', '-r', '[fd00::1]:80', '-m', '-w', '0'],
    ['the forwarding', '-e', '-t', '10.96.0.1:80', '-r', '10.244.0.1:80', '-g'],
    ['a new destination', '-a', '-t', '10.96.0.1:80', '-r', '10.244.0.2:80', '-m'],
    ['a deleted destination', '-d', '-t', '10.96.0.2:80', '-r', '10.244.0.1:80'],
    ['a new server', '-A', '-u', '10.96.0.1:80', '-s', 'rr'],
    ['a deleted server', '-D', '-t', '10.96.0.2:80'],
  ];
  for (const [what, ...argv] of CHANGES) {
    it(`changes with ${what}`, async () => {
      const before = await ipvs.fingerprint();
      ipvsadm(...argv);
      assert.notEqual((await ipvs.fingerprint()).digest, before.digest);
    });
  }

  it('differs when a destination moves from one server to another', async () => {
    ipvsadm('-a', '-t', '10.96.0.1:80', '-r', '10.244.0.9:80', '-m');
    const before = await ipvs.fingerprint();
    ipvsadm('-d', '-t', '10.96.0.1:80', '-r', '10.244.0.9:80');
    ipvsadm('-a', '-t', '10.96.0.2:80', '-r', '10.244.0.9:80', '-m');
    const { digest, ...counts } = await ipvs.fingerprint();
    assert.deepEqual(counts, { virtualServers: 3, destinations: 4 });
    assert.notEqual(digest, before.digest);
  });

  it('changes at the begin of the listing when all is deleted', async () => {
    const before = await ipvs.fingerprint('begin');
    assert.equal(before.virtualServers, 3);
    ipvsadm('-C');
    assert.notEqual((await ipvs.fingerprint('begin')).digest, before.digest);
  });

  it('is the same after a server was deleted and added again', async () => {
    const before = await ipvs.fingerprint();
    ipvsadm('-D', '-t', '10.96.0.1:80');
    ipvsadm('-A', '-t', '10.96.0.1:80', '-s', 'rr');
    ipvsadm('-a', '-t', '10.96.0.1:80', '-r', '10.244.0.1:80', '-m');
    assert.deepEqual(await ipvs.fingerprint(), before);
  });
});

// After the others: each write walks the destinations that were deleted in the last two minutes.
describe('everything that IPVS has', { skip: WITHOUT_IPVS }, () => {
  beforeEach(() => ipvsadm('-C'));

  it('a server of 4,000 destinations is written and read', async () => {
    const [server] = servers(1);
    assert.ok(server);
    const destinations = Array.from({ length: 4_000 }, (_, at) => ({
      address: `10.244.${at >> 8}.${at & 0xff}`,
      port: 8080,
      weight: 1,
    }));
    const adds = destinations.map(
      (destination): IpvsWrite => ({ do: 'add-destination', server, destination }),
    );
    assert.deepEqual(await ipvs.write([{ do: 'add-server', server }, ...adds]), []);
    const read = (await ipvs.read()).get(virtualServerId(server));
    const addresses = new Set(read?.destinations.map(({ address }) => address));
    assert.equal(addresses.size, destinations.length);
    const asked = await ipvs.destinationsOf([server]);
    assert.equal(asked.get(virtualServerId(server))?.length, destinations.length);
    assert.equal((await ipvs.fingerprint()).destinations, destinations.length);
  });

  it('is read whole although another network namespace has servers too', async () => {
    const all = servers(400);
    assert.deepEqual(await ipvs.write(writesOf(all, 2)), []);
    run(['ip', 'netns', 'add', 'fairlead-other']);
    try {
      const lines = all.map(({ address }) => `-A -t ${address}:80 -s rr`).join('\n');
      run(['ip', 'netns', 'exec', 'fairlead-other', 'ipvsadm', '-R'], `${lines}\n`);
      const { virtualServers } = await ipvs.fingerprint();
      assert.ok(virtualServers < all.length, 'the kernel lists every server: the defect is gone');
      const read = await ipvs.read();
      assert.equal(read.size, all.length);
      assert.ok([...read.values()].every(({ destinations }) => destinations.length === 2));
    } finally {
      run(['ip', 'netns', 'del', 'fairlead-other']);
    }
  });

  it('10,000 servers of 5 destinations are written and read in seconds', async () => {
    const all = servers(10_000);
    const beganAtMs = performance.now();
    assert.deepEqual(await ipvs.write(writesOf(all, 5)), []);
    const read = await ipvs.read();
    const tookMs = performance.now() - beganAtMs;
    assert.equal(read.size, all.length);
    assert.ok(all.every((server) => read.get(virtualServerId(server))?.destinations.length === 5));
    assert.ok(tookMs < SECONDS * 1000, `${tookMs} ms`);
    const { virtualServers, destinations } = await ipvs.fingerprint();
    assert.deepEqual([virtualServers, destinations], [10_000, 50_000]);
    const begin = await ipvs.fingerprint('begin');
    assert.ok(begin.virtualServers > 0 && begin.virtualServers < 100);
  });
});
