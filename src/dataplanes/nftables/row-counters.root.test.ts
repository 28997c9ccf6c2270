import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, it } from 'node:test';
import { servicePortKey } from '../../forwarding/model.ts';
import { enterOwnNetwork, ip } from '../../linux/netlink/testing/own-namespace.ts';
import { change } from '../shared/testing/plane-change.ts';
import { applyWrong, newPlane, nft } from './testing/nftables-kernel.ts';
import { FACTS, row } from './testing/nftables-rows.ts';

beforeEach(enterOwnNetwork);

const ENDPOINTS = Array.from({ length: 250 }, (_, index) => ({
  address: `10.244.${1 + (index >> 7)}.${1 + (index & 127)}`,
  port: 8080,
  local: false,
}));
const LONG = { ...row({ number: 3 }), clusterEndpoints: ENDPOINTS };
const ROWS = [row({ number: 1 }), row({ number: 2, affinitySeconds: 60 }), LONG];

async function written() {
  const plane = newPlane();
  const desired = { facts: FACTS, rows: ROWS };
  await applyWrong(plane, ROWS, await plane.inspect(desired, 'everything'));
  return plane;
}

describe('counters of some rows', () => {
  it('are those that reading everything gives, whatever the list', async () => {
    const plane = await written();
    const all = await plane.counters();
    for (const each of ROWS) {
      const key = servicePortKey(each.id);
      const expected = all.filter(({ service }) => service === key);
      const found = await plane.counters([each]);
      assert.ok(found.length > 0);
      assert.deepEqual(sorted(found), sorted(expected));
    }
  });

  it('leave out a row that the kernel has with other endpoints, and one it has never had', async () => {
    const plane = await written();
    const more = { ...LONG, clusterEndpoints: [...ENDPOINTS, { ...FIRST, port: 9090 }] };
    const other = row({ number: 9 });
    const found = await plane.counters([more, other, ROWS[0] ?? other]);
    assert.deepEqual([...new Set(found.map(({ service }) => service))], [keyOf(0)]);
    await plane.apply([change(LONG, more)]);
    assert.equal((await plane.counters([more])).length, 251);
  });
});

const FIRST = ENDPOINTS[0] ?? { address: '', port: 0, local: false };

function keyOf(index: number): string {
  const found = ROWS[index];
  assert.ok(found);
  return servicePortKey(found.id);
}

function sorted<T extends { readonly endpoint: string }>(counts: readonly T[]): T[] {
  return counts.toSorted((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
}

describe('rejected and dropped connections', () => {
  it('count what the source ranges of a Service drop, also while it forwards', async () => {
    ip('link add eth0 type veth peer name far0', 'link set eth0 up', 'link set far0 up');
    ip('addr add 192.0.2.1/24 dev eth0', 'route add default via 192.0.2.254');
    const limited = row({ number: 1, allowedSources: ['203.0.113.0/24'] });
    const open = row({ number: 2, allowedSources: ['192.0.2.0/24'] });
    const plane = newPlane();
    const rows = [limited, open];
    await applyWrong(plane, rows, await plane.inspect({ facts: FACTS, rows }, 'everything'));
    for (const { frontends } of rows) {
      const { address = '', port } = frontends.find(({ allowedSources }) => allowedSources) ?? {};
      const socket = connect({ host: address, port: port ?? 0 });
      socket.on('error', () => socket.destroy());
      await once(socket, 'connectionAttempt');
      socket.destroy();
    }
    const counts = (await plane.rejected()) ?? [];
    assert.deepEqual(
      counts.map(({ service, outsideRanges }) => [service, outsideRanges]).toSorted(),
      [
        [servicePortKey(limited.id), 1],
        [servicePortKey(open.id), 0],
      ],
    );
  });

  it('are unknown while sets of an earlier version, which do not count, are in the kernel', async () => {
    const plane = await written();
    assert.deepEqual(await plane.rejected(), []);
    await plane.remove();
    nft('add table ip fairlead\nadd set ip fairlead reject-services { type ipv4_addr; }');
    assert.equal(await plane.rejected(), undefined);
  });
});
