import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Netlink, type NetlinkListener, openNetlink } from '../netlink/netlink-socket.ts';
import type { NetlinkMessage } from '../netlink/reader.ts';
import { enterOwnNetwork, ip } from '../netlink/testing/own-namespace.ts';
import type { MachineLink } from './link-codec.ts';
import { RTM_NEWADDR } from './route-protocol.ts';
import { type MachineAddress, machineAddresses, watchAddresses } from './watch-addresses.ts';
import { watchLinks } from './watch-links.ts';
import type { WatchOptions } from './watch-tables.ts';

const DEADLINE_MS = 10_000;
const SOON: WatchOptions = { settleMs: 5 };

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

type Watch<Row> = (onChange: (rows: readonly Row[]) => void, signal: AbortSignal) => Promise<void>;

/** A running watch, with all of its reports. */
class Watched<Row> implements AsyncDisposable {
  readonly told: (readonly Row[])[] = [];
  readonly #stop = new AbortController();
  #running = Promise.resolve();

  start(watch: Watch<Row>): this {
    this.#running = watch((rows) => this.told.push(rows), this.#stop.signal);
    return this;
  }

  /** Waits for a list that is as it should be. */
  async see(what: string, isIt: (rows: readonly Row[]) => boolean): Promise<readonly Row[]> {
    const giveUpAt = performance.now() + DEADLINE_MS;
    for (;;) {
      const last = this.told.at(-1);
      if (last !== undefined && isIt(last)) return last;
      const text = JSON.stringify(last);
      assert.ok(performance.now() < giveUpAt, `gave up waiting for ${what}; last is ${text}`);
      // A watch that failed reports nothing more.
      await Promise.race([delay(2), this.#running.then(() => assert.fail('the watch has ended'))]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

const addressesWith = (options: WatchOptions): Watched<MachineAddress> =>
  new Watched<MachineAddress>().start((tell, signal) => watchAddresses(tell, signal, options));

const has = (address: string) => (rows: readonly MachineAddress[]) =>
  rows.some((row) => row.address === address);

const lacks = (address: string) => (rows: readonly MachineAddress[]) => !has(address)(rows);

/** Kernel sockets whose dumps are inconsistent or whose events are delayed on demand. */
function opening(change: (netlink: Netlink, isForEvents: boolean) => Partial<Netlink>) {
  return (options: Parameters<typeof openNetlink>[0]): Netlink => {
    const netlink = openNetlink(options);
    const changed = change(netlink, options.groups !== undefined);
    return {
      portId: netlink.portId,
      send: (bytes) => netlink.send(bytes),
      receive: () => netlink.receive(),
      listen: (listener: NetlinkListener, signal) => netlink.listen(listener, signal),
      [Symbol.dispose]: () => netlink[Symbol.dispose](),
      ...changed,
    };
  };
}

function manyAddresses(verb: 'add' | 'del'): string[] {
  return Array.from({ length: 200 }, (_, i) => `addr ${verb} 10.1.0.${i}/32 dev lo`);
}

describe('a watch of addresses', () => {
  it('reports the initial addresses with link names, in order', async () => {
    ip('link add early type veth peer name early2', 'addr add 192.0.2.1/24 dev early');
    ip('addr add 2001:db8::1/64 dev early nodad', 'addr add 10.0.0.9/32 dev lo');
    await using watched = addressesWith(SOON);
    const rows = await watched.see('all', has('192.0.2.1'));
    assert.deepEqual(
      rows.map((row) => `${row.interface} ${row.address}/${row.prefixLength} ${row.scope}`),
      [
        'lo 10.0.0.9/32 global',
        'lo 127.0.0.1/8 host',
        'lo ::1/128 host',
        'early 192.0.2.1/24 global',
        'early 2001:db8::1/64 global',
      ],
    );
  });

  it('reports added and removed addresses of both families', async () => {
    await using watched = addressesWith(SOON);
    await watched.see('the start', has('127.0.0.1'));
    for (const address of ['192.0.2.2', '2001:db8::2']) {
      const length = address.includes(':') ? 128 : 32;
      ip(`addr add ${address}/${length} dev lo`);
      await watched.see(`${address} to come`, has(address));
      ip(`addr del ${address}/${length} dev lo`);
      await watched.see(`${address} to go`, lacks(address));
    }
  });

  it('reports when duplicate address detection is done', async () => {
    ip('link add checked type veth peer name checked2', 'link set checked2 up');
    await using watched = addressesWith(SOON);
    ip('link set checked up', 'addr add 2001:db8::3/64 dev checked');
    await watched.see('an address that is ready', (rows) =>
      rows.some((row) => row.address === '2001:db8::3' && !row.tentative),
    );
    const earlier = watched.told.flat().filter((row) => row.address === '2001:db8::3');
    assert.equal(earlier[0]?.tentative, true);
    ip('link del checked');
    await watched.see('it to go with its link', lacks('2001:db8::3'));
    assert.ok(watched.told.at(-1)?.every((row) => row.interface === 'lo'));
  });

  it('reports the new name of a link', async () => {
    ip('link add named type veth peer name named2', 'addr add 192.0.2.4/24 dev named');
    await using watched = addressesWith(SOON);
    await watched.see('the old name', has('192.0.2.4'));
    ip('link set named name renamed');
    await watched.see('the new name', (rows) => rows.some((row) => row.interface === 'renamed'));
  });

  it('keeps the addresses of a link that leaves a bridge', async () => {
    ip('link add port type veth peer name port2', 'link add bridge0 type bridge');
    ip('link set port master bridge0', 'addr add 192.0.2.5/24 dev port');
    await using watched = addressesWith(SOON);
    await watched.see('the address', has('192.0.2.5'));
    ip('link set port nomaster', 'addr add 192.0.2.6/32 dev lo');
    const rows = await watched.see('a later address', has('192.0.2.6'));
    assert.equal(rows.find((row) => row.address === '192.0.2.5')?.interface, 'port');
  });

  it('reports a burst once, without changes that were undone', async () => {
    await using watched = addressesWith({ settleMs: 200 });
    await watched.see('the start', has('127.0.0.1'));
    ip(...manyAddresses('add'));
    await watched.see('the burst', has('10.1.0.199'));
    assert.equal(watched.told.length, 2);
    ip('addr add 10.2.0.1/32 dev lo', 'addr del 10.2.0.1/32 dev lo');
    ip(...manyAddresses('del'));
    await watched.see('the burst to go', lacks('10.1.0.199'));
    assert.equal(watched.told.length, 3);
    assert.deepEqual(watched.told[2], watched.told[0]);
  });

  it('lists again when events were lost', async () => {
    let lists = 0;
    const open = opening((_, isForEvents) => {
      if (!isForEvents) lists++;
      return {};
    });
    await using watched = addressesWith({ ...SOON, receiveBufferBytes: 4096, open });
    await watched.see('the start', has('127.0.0.1'));
    for (let round = 1; round <= 3; round++) {
      ip(...manyAddresses('add'));
      await watched.see('what came', (rows) => rows.length === 202);
      ip(...manyAddresses('del'));
      await watched.see('what is left', (rows) => rows.length === 2);
      assert.ok(lists > 2 * round, 'no events were lost: the test has tested nothing');
    }
  });

  it('reports nothing when events were lost and nothing changed', async () => {
    let lists = 0;
    const open = opening((netlink, isForEvents) => {
      if (isForEvents) return {};
      const close = () => {
        lists++;
        netlink[Symbol.dispose]();
      };
      return { [Symbol.dispose]: close };
    });
    await using watched = addressesWith({ ...SOON, receiveBufferBytes: 4096, open });
    await watched.see('the start', has('127.0.0.1'));
    ip(...manyAddresses('add'), ...manyAddresses('del'));
    await watched.see('the end of the second list', () => lists > 1);
    ip('addr add 192.0.2.3/32 dev lo');
    await watched.see('a change', has('192.0.2.3'));
    assert.equal(watched.told.length, 2);
  });

  it('does not lose a change during the dump', async () => {
    let held: NetlinkMessage[] = [];
    let turnsLeft = 20;
    const open = opening((netlink, isForEvents) => {
      if (isForEvents) return {};
      return {
        receive: () => {
          if (turnsLeft < 20 && turnsLeft-- > 0) return undefined;
          if (held.length > 0) return held.splice(0);
          const batch = netlink.receive();
          if (batch === undefined || turnsLeft < 20) return batch;
          const copies = [...batch].map((m) => ({ ...m, body: Buffer.from(m.body) }));
          if (copies[0]?.type !== RTM_NEWADDR) return copies;
          // The list is made; this comes after it, and is heard while the list is held back.
          ip('addr add 192.0.2.7/32 dev lo');
          held = copies;
          turnsLeft--;
          return undefined;
        },
      };
    });
    await using watched = addressesWith({ ...SOON, open });
    await watched.see('the change', has('192.0.2.7'));
    assert.equal(watched.told.length, 1);
  });

  it('lists again when the list changed during the dump', async () => {
    let lists = 0;
    const open = opening((netlink, isForEvents) => {
      if (isForEvents) return {};
      lists++;
      const isTorn = lists <= 3;
      return {
        receive: () => {
          const batch = netlink.receive();
          if (batch === undefined || !isTorn) return batch;
          return [...batch].map((m) => ({ ...m, flags: m.flags | 0x10 })).slice(-1);
        },
      };
    });
    await using watched = addressesWith({ ...SOON, open });
    const rows = await watched.see('the start', () => true);
    assert.ok(has('127.0.0.1')(rows));
    assert.equal(lists, 4);
  });

  it('rejects with the error of the kernel when listing fails', async () => {
    const open = opening((_, isForEvents) => {
      return isForEvents ? {} : { send: () => Promise.reject(new Error('rejected')) };
    });
    const watching = watchAddresses(() => assert.fail(), AbortSignal.timeout(DEADLINE_MS), {
      open,
    });
    await assert.rejects(watching, { message: 'rejected' });
  });
});

describe('the addresses of the machine', () => {
  it('are reported as strings, once each, and only on changes', async () => {
    ip('link add twice type veth peer name twice2', 'link set twice up');
    ip('addr add 192.0.2.8/32 dev lo', 'addr add 192.0.2.8/24 dev twice');
    const watched = new Watched<string>();
    await using _ = watched.start((tell, signal) => machineAddresses(SOON).run(tell, signal));
    const rows = await watched.see('the start', () => true);
    assert.deepEqual(rows, ['127.0.0.1', '192.0.2.8', '::1']);
    // One of two places is none the less.
    ip('link del twice', 'addr add 192.0.2.9/32 dev lo');
    await watched.see('the new one', (texts) => texts.includes('192.0.2.9'));
    assert.ok(watched.told.every((texts) => texts.includes('192.0.2.8')));
  });

  it('are not watched when the signal is aborted already', async () => {
    await machineAddresses().run(() => assert.fail(), AbortSignal.abort());
  });
});

describe('a watch of links', () => {
  it('reports added, changed and removed links', async () => {
    const watched = new Watched<MachineLink>();
    await using _ = watched.start((tell, signal) => watchLinks(tell, signal, SOON));
    await watched.see('the start', (links) => links.length === 1 && links[0]?.name === 'lo');
    ip('link add seen type veth peer name seen2');
    const find = (links: readonly MachineLink[]) => links.find(({ name }) => name === 'seen');
    const link = find(await watched.see('it to come', (links) => find(links) !== undefined));
    assert.deepEqual([link?.kind, link?.up], ['veth', false]);
    ip('link set seen up');
    await watched.see('it to be up', (links) => find(links)?.up === true);
    ip('link del seen');
    await watched.see('it to go', (links) => links.length === 1);
  });
});
