import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Cidr, formatCidr, parseCidr } from '../../addresses/cidr.ts';
import { type IpAddress, parseIp } from '../../addresses/ip.ts';
import { NetlinkError } from '../netlink/netlink-error.ts';
import { enterOwnNetwork, ip, run } from '../netlink/testing/own-namespace.ts';
import { createLink, deleteLink, findLink } from './change-links.ts';
import { addRoute, deleteRoute, listRoutes, lookUpRoute } from './machine-routes.ts';

beforeEach(enterOwnNetwork);

function range(text: string): Cidr {
  const cidr = parseCidr(text);
  assert.ok(cidr);
  return cidr;
}

function address(text: string): IpAddress {
  const parsed = parseIp(text);
  assert.ok(parsed);
  return parsed;
}

/** A link of the lab with an address of both families and a gateway on it. */
function uplink(): void {
  ip('link add uplink type veth peer name far', 'link set uplink up', 'link set far up');
  ip('addr add 192.0.2.10/24 dev uplink', 'addr add 2001:db8::10/64 dev uplink nodad');
}

async function uplinkIndex(): Promise<number> {
  const link = await findLink('uplink');
  assert.ok(link);
  return link.index;
}

const FAMILIES = [
  { family: 'IPv4', to: '10.96.0.0/12', inside: '10.100.1.1', gateway: '192.0.2.1' },
  { family: 'IPv6', to: 'fd00:10:96::/112', inside: 'fd00:10:96::7', gateway: '2001:db8::1' },
] as const;

for (const { family, to, inside, gateway } of FAMILIES) {
  describe(`routes of ${family}`, () => {
    it('are added, listed, looked up and deleted', async () => {
      uplink();
      const linkIndex = await uplinkIndex();
      const route = { to: range(to), linkIndex, protocol: 77, metric: 5000, gateway, mtu: 1400 };
      assert.equal(await addRoute(route), true);
      assert.equal(await addRoute(route), false, 'the same again');
      const listed = (await listRoutes([family])).filter(({ protocol }) => protocol === 77);
      assert.deepEqual(
        listed.map((found) => ({ ...found, to: formatCidr(found.to) })),
        [
          {
            family,
            to,
            table: 254,
            protocol: 77,
            type: 'unicast',
            metric: 5000,
            mtu: 1400,
            source: undefined,
            isConditional: false,
            hops: [{ linkIndex, gateway, alive: true }],
          },
        ],
      );
      const found = await lookUpRoute(address(inside));
      assert.ok(found.found);
      assert.equal(found.gateway, gateway);
      assert.equal(found.source, family === 'IPv4' ? '192.0.2.10' : '2001:db8::10');
      assert.equal(found.match && formatCidr(found.match.to), to);
      assert.equal(found.match?.protocol, 77);
      assert.equal(await deleteRoute(route), true);
      assert.equal(await deleteRoute(route), false, 'the same again');
      assert.deepEqual(await lookUpRoute(address(inside)), { found: false, code: 'ENETUNREACH' });
    });

    it('of all tables are listed, with all hops of a multipath route', async () => {
      uplink();
      const everywhere = family === 'IPv4' ? '0.0.0.0/0' : '::/0';
      const other = gateway.replace(/1$/, '2');
      ip(`route add ${to} table 1000 metric 7 nexthop via ${gateway} nexthop via ${other}`);
      ip(`route add blackhole ${everywhere} table 7 metric 9 proto 42`);
      const routes = await listRoutes([family]);
      const several = routes.find(({ table }) => table === 1000);
      assert.deepEqual(several?.hops.map((hop) => hop.gateway).sort(), [gateway, other]);
      const nowhere = routes.find(({ table }) => table === 7);
      assert.equal(nowhere?.type, 'blackhole');
      assert.equal(nowhere.protocol, 42);
      assert.equal(nowhere.to.prefixLength, 0);
    });

    for (const type of ['blackhole', 'unreachable', 'prohibit'] as const) {
      it(`of type ${type} lead nowhere`, async () => {
        uplink();
        ip(`route add ${type} ${to}`);
        const found = await lookUpRoute(address(inside));
        assert.equal(found.found, false);
      });
    }

    it('whose link is down are not alive', async () => {
      uplink();
      ip(`route add ${to} dev uplink`, 'link set uplink down');
      const routes = await listRoutes([family]);
      const left = routes.filter((route) => formatCidr(route.to) === to);
      assert.ok(left.every(({ hops }) => hops.every(({ alive }) => !alive)));
      assert.deepEqual(await lookUpRoute(address(inside)), { found: false, code: 'ENETUNREACH' });
    });
  });
}

describe('a link of our own', () => {
  it('is created up with its addresses, found and deleted', async () => {
    const addresses = ['169.254.118.1', 'fe80::118:1', '2001:db8:118::1'];
    const kind = await createLink({ name: 'fairlead0', kinds: ['dummy', 'veth'], addresses });
    const link = await findLink('fairlead0');
    assert.ok(link);
    assert.deepEqual([link.kind, link.up], [kind, true]);
    const shown = run(['ip', '-o', 'addr', 'show', 'dev', 'fairlead0']);
    for (const text of ['169.254.118.1/32', 'fe80::118:1/128', '2001:db8:118::1/128']) {
      assert.ok(shown.includes(` ${text} `), shown);
    }
    assert.equal(await deleteLink('fairlead0'), true);
    assert.equal(await deleteLink('fairlead0'), false);
    assert.equal(await findLink('fairlead0'), undefined);
  });

  it('is a veth where the kernel lacks the first kind, and goes with its peer', async () => {
    const kinds = ['no-such-kind' as 'dummy', 'veth'] as const;
    assert.equal(await createLink({ name: 'second', kinds, addresses: [] }), 'veth');
    assert.equal((await findLink('second-peer'))?.up, true);
    await deleteLink('second');
    assert.equal(await findLink('second-peer'), undefined);
  });

  it('has a carrier, also after its MAC address is set', async () => {
    await createLink({ name: 'fairlead0', kinds: ['dummy', 'veth'], addresses: [] });
    ip('link set fairlead0 address 02:00:00:00:01:18');
    assert.match(run(['ip', '-o', 'link', 'show', 'dev', 'fairlead0']), /\bLOWER_UP\b/);
  });

  it('does not replace a link of that name', async () => {
    ip('link add fairlead0 type veth peer name far');
    await assert.rejects(
      createLink({ name: 'fairlead0', kinds: ['veth'], addresses: ['169.254.118.1'] }),
      (error) => error instanceof NetlinkError && error.code === 'EEXIST',
    );
    assert.equal((await findLink('fairlead0'))?.kind, 'veth');
  });

  it('is removed again when an address is rejected', async () => {
    const spec = { name: 'half', kinds: ['veth'], addresses: ['not an address'] } as const;
    await assert.rejects(
      createLink(spec),
      (error) => error instanceof NetlinkError && error.code === 'EINVAL',
    );
    assert.equal(await findLink('half'), undefined);
  });
});
