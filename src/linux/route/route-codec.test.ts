import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatCidr, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { readMessages } from '../netlink/reader.ts';
import { IPV4_ROUTES_ANSWER, IPV6_ROUTE_ANSWER } from '../netlink/testing/captured-netlink.ts';
import { type MachineRoute, readRouteEvent } from './route-codec.ts';
import { lookupQuestion, routeRequest, routesQuestion } from './route-requests.ts';

const to = parseCidr('10.96.0.0/12');
const address = parseIp('10.0.0.1');

function decoded(bytes: Buffer): MachineRoute[] {
  return [...readMessages(bytes)].map((message) => {
    const event = readRouteEvent(message);
    assert.ok(event);
    assert.equal(event.removed, false);
    return event.route;
  });
}

describe('requests about routes', () => {
  it('are those that a kernel answered', () => {
    assert.ok(to && address);
    const hex = (question: { bytes: Buffer }) => question.bytes.toString('hex');
    assert.equal(
      hex(routesQuestion('IPv6', 1)),
      '1c0000001a00010301000000000000000a0000000000000000000000',
    );
    assert.equal(
      hex(lookupQuestion(address, { answer: 'match', sequence: 3 })),
      '240000001a0005000300000000000000022000000000000000200000080001000a000001',
    );
    const route = { to, linkIndex: 1, protocol: 77, metric: 4_000_000_000 };
    assert.equal(
      hex(routeRequest('add', route, 4)),
      '3c000000180005060400000000000000020c0000fe4dfd0100000000' +
        '080001000a60000008000f00fe00000008000400010000000800060000286bee',
    );
  });
});

describe('a route', () => {
  it('of IPv4 is decoded with its table, type, hops and source', () => {
    const routes = decoded(IPV4_ROUTES_ANSWER);
    assert.deepEqual(
      routes.map((route) => [formatCidr(route.to), route.table, route.type, route.source]),
      [
        ['10.0.0.0/8', 1000, 'unicast', undefined],
        ['0.0.0.0/0', 254, 'unicast', undefined],
        ['198.18.0.0/15', 254, 'blackhole', undefined],
        ['203.0.113.0/24', 254, 'unicast', undefined],
        ['192.0.2.10/32', 255, 'local', '192.0.2.10'],
      ],
    );
    assert.deepEqual([routes[0]?.protocol, routes[0]?.metric], [42, 9]);
    const gateways = routes.map(({ hops }) => hops.map((hop) => hop.gateway ?? '-').join());
    assert.deepEqual(gateways, ['192.0.2.1,192.0.2.2', '192.0.2.1', '', '2001:db8::1', '-']);
  });

  it('of IPv6 is decoded likewise', () => {
    const hops = [{ linkIndex: 3, gateway: '2001:db8::1', alive: true }];
    const [route] = decoded(IPV6_ROUTE_ANSWER);
    assert.deepEqual(route, {
      family: 'IPv6',
      to: parseCidr('fd00::/64'),
      table: 254,
      protocol: 3,
      type: 'unicast',
      metric: 7,
      mtu: undefined,
      source: undefined,
      isConditional: false,
      hops,
    });
  });

  it('that is removed is reported so; other messages are left out', () => {
    const [message] = readMessages(IPV6_ROUTE_ANSWER);
    assert.ok(message);
    assert.equal(readRouteEvent({ ...message, type: 25 })?.removed, true);
    assert.equal(readRouteEvent({ ...message, type: 20 }), undefined);
    const body = Buffer.from(message.body);
    body[0] = 28;
    assert.equal(readRouteEvent({ ...message, body }), undefined);
  });

  it('is decoded from any bytes without throwing', () => {
    const bodies = [IPV4_ROUTES_ANSWER, IPV6_ROUTE_ANSWER].flatMap((bytes) =>
      [...readMessages(bytes)].map(({ body }) => body),
    );
    const mutilated = fc.record({
      body: fc.oneof(fc.constantFrom(...bodies), fc.uint8Array({ maxLength: 100 })),
      blows: fc.array(fc.tuple(fc.nat(150), fc.nat(255)), { maxLength: 8 }),
      end: fc.nat(150),
      type: fc.constantFrom(24, 25),
    });
    fc.assert(
      fc.property(mutilated, ({ body, blows, end, type }) => {
        const bytes = Buffer.from(body.subarray(0, end));
        for (const [at, value] of blows) if (at < bytes.length) bytes[at] = value;
        const event = readRouteEvent({ type, flags: 0, sequence: 0, portId: 0, body: bytes });
        if (event === undefined) return;
        // Whatever was decoded can be printed.
        assert.ok(parseCidr(formatCidr(event.route.to)));
      }),
      { numRuns: 2000 },
    );
  });
});
