import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { contains, formatCidr, parseCidrs } from '../../addresses/cidr.ts';
import { systemClock } from '../../time/clock.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { enterOwnNetwork, ip, run } from '../netlink/testing/own-namespace.ts';
import { type KeepHooks, KernelRouteKeeper } from './keep-routes.ts';
import { FAIRLEAD_PROTOCOL, listOurRoutes, removeRoute } from './our-routes.ts';
import { NETLINK_ROUTE, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE } from './route-protocol.ts';

const DEADLINE_MS = 10_000;
const IPV4 = '10.96.0.0/12';
const IPV6 = 'fd00:96::/108';

beforeEach(() => {
  enterOwnNetwork();
  ip('link add uplink type veth peer name far', 'link set uplink up', 'link set far up');
  ip('addr add 192.0.2.10/24 dev uplink', 'addr add 2001:db8::10/64 dev uplink nodad');
});

/** A keeper that covers a range by any usable route to more than it. */
class Kept implements AsyncDisposable {
  readonly reports: Parameters<KeepHooks['onKept']>[0][] = [];
  readonly changes: string[] = [];
  ranges = [IPV4, IPV6];
  readonly keeper = new KernelRouteKeeper({ clock: systemClock });
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor() {
    this.#running = this.keeper.run(
      {
        decide: (routes) =>
          parseCidrs(this.ranges).map((range) => ({
            range,
            coveredBy: routes.find(
              ({ to, isUsable, isOurs }) =>
                isUsable &&
                !isOurs &&
                to.prefixLength <= range.prefixLength &&
                contains(to, range.base),
            )?.text,
          })),
        onKept: (routes, { added, removed }) => {
          this.reports.push(routes);
          this.changes.push(...added.map((to) => `+${to}`), ...removed.map((to) => `-${to}`));
        },
        onFailed: (error) => assert.fail(error.message),
      },
      this.#stop.signal,
    );
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const giveUpAt = performance.now() + DEADLINE_MS;
    while (!(await isSo())) {
      assert.ok(performance.now() < giveUpAt, `${what}; ours: ${await ours()}; ${this.changes}`);
      await Promise.race([delay(5), this.#running]);
    }
  }

  async untilOurs(...texts: readonly string[]): Promise<void> {
    await this.until(`routes ${texts}`, async () => (await ours()) === texts.join());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

async function ours(): Promise<string> {
  const texts = (await listOurRoutes()).map(({ to }) => formatCidr(to));
  return texts.sort().join();
}

describe('a keeper of routes', () => {
  it('adds a unicast route to loopback with the worst metric for each range', async () => {
    await using kept = new Kept();
    await kept.untilOurs(IPV4, IPV6);
    for (const family of ['-4', '-6']) {
      const shown = run(['ip', family, 'route', 'show', 'proto', String(FAIRLEAD_PROTOCOL)]);
      assert.match(shown, /^(10\.96|fd00).* dev lo .*metric 4294967295 mtu 1500/);
    }
    const local = run(['ip', 'route', 'get', '10.100.0.1']);
    assert.doesNotMatch(local, /^local/, 'the range belongs to the machine');
    assert.doesNotMatch(run(['ip', 'route', 'get', 'fd00:96::7']), /^local/);
  });

  it('removes its route when a default route comes, and adds it again when that goes', async () => {
    await using kept = new Kept();
    await kept.untilOurs(IPV4, IPV6);
    ip('route add default via 192.0.2.1');
    await kept.untilOurs(IPV6);
    ip('route add default via 2001:db8::1');
    await kept.untilOurs();
    assert.deepEqual(kept.reports.at(-1)?.[0], {
      range: IPV4,
      state: 'covered',
      coveredBy: 'default via 192.0.2.1 dev uplink',
    });
    ip('route del default via 192.0.2.1', 'route del default via 2001:db8::1');
    await kept.untilOurs(IPV4, IPV6);
  });

  it('takes a multipath route for a cover as long as one hop is alive', async () => {
    ip('link add second type veth peer name far2', 'link set second up', 'link set far2 up');
    ip('addr add 198.51.100.10/24 dev second');
    ip('route add 0.0.0.0/0 nexthop via 192.0.2.1 nexthop via 198.51.100.1');
    await using kept = new Kept();
    await kept.untilOurs(IPV6);
    ip('link set second down');
    await kept.until('a report', () => kept.reports.length > 0);
    assert.equal(await ours(), IPV6);
    ip('link set uplink down');
    await kept.until('a route', async () => (await ours()).includes(IPV4));
  });

  for (const type of ['blackhole', 'unreachable', 'prohibit', 'throw']) {
    it(`does not take a ${type} default route for a cover`, async () => {
      ip(`route add ${type} 0.0.0.0/0`, `route add ${type} ::/0 metric 4096`);
      await using kept = new Kept();
      await kept.untilOurs(IPV4, IPV6);
    });
  }

  describe('with a default route in another table', () => {
    const rule = (...words: string[]): void => {
      for (const family of ['-4', '-6']) run(['ip', family, 'rule', ...words]);
    };

    beforeEach(() => {
      ip('route add default via 192.0.2.1 table 1000', 'route add ::/0 via 2001:db8::1 table 1000');
    });

    it('adds routes while no rule leads to the table for every packet', async () => {
      ip('route add ::/0 from 2001:db8:5::/64 via 2001:db8::1');
      run(['ip', 'rule', 'add', 'from', '192.0.2.99', 'lookup', '1000']);
      run(['ip', '-6', 'rule', 'add', 'from', '2001:db8::99', 'lookup', '1000']);
      rule('add', 'fwmark', '0x7', 'lookup', '1000');
      rule('add', 'iif', 'uplink', 'lookup', '1000');
      rule('add', 'uidrange', '7-7', 'lookup', '1000');
      await using kept = new Kept();
      await kept.untilOurs(IPV4, IPV6);
    });

    it('leaves the range to a rule for every packet, and to that of WireGuard', async () => {
      await using kept = new Kept();
      await kept.untilOurs(IPV4, IPV6);
      const rules = [
        ['not', 'fwmark', '0xca6c', 'lookup', '1000'],
        ['lookup', '1000'],
        ['iif', 'lo', 'lookup', '1000'],
      ];
      for (const words of rules) {
        rule('add', ...words);
        await kept.untilOurs();
        rule('del', ...words);
        await kept.untilOurs(IPV4, IPV6);
      }
    });

    it('passes over routes that a rule suppresses', async () => {
      rule('add', 'lookup', '1000', 'suppress_prefixlength', '0');
      await using kept = new Kept();
      await kept.untilOurs(IPV4, IPV6);
    });
  });

  it('repairs a route that another process removed or replaced', async () => {
    await using kept = new Kept();
    await kept.untilOurs(IPV4, IPV6);
    ip(`route del ${IPV4} dev lo`);
    await kept.untilOurs(IPV4, IPV6);
    ip(`route del ${IPV6} dev lo`, `route add blackhole ${IPV6} proto ${FAIRLEAD_PROTOCOL}`);
    await kept.until('loopback', () => {
      const shown = run(['ip', '-6', 'route', 'show', 'proto', String(FAIRLEAD_PROTOCOL)]);
      return shown.startsWith(`${IPV6} dev lo`) && !shown.includes('blackhole');
    });
  });

  it('follows the MTU of the links that have a gateway', async () => {
    ip('link add tunnel type veth peer name far2', 'link set tunnel mtu 1300 up');
    await using kept = new Kept();
    await kept.untilOurs(IPV4, IPV6);
    const mtu = () => run(['ip', 'route', 'show', IPV4]).match(/mtu (\d+)/)?.[1];
    assert.equal(mtu(), '1300', 'no link has a gateway: the smallest');
    ip('route add 198.18.0.0/15 via 192.0.2.1');
    ip('link set uplink mtu 1420');
    await kept.until('the MTU of uplink', () => mtu() === '1420');
    assert.equal(await ours(), [IPV4, IPV6].join());
    assert.deepEqual(kept.changes, [`+${IPV4}`, `+${IPV6}`], 'replaced in place');
  });

  it('removes the route of a range that is gone', async () => {
    await using kept = new Kept();
    await kept.untilOurs(IPV4, IPV6);
    kept.ranges = [IPV6];
    kept.keeper.recheck();
    await kept.untilOurs(IPV6);
  });

  it('leaves its routes at the end, and writes nothing at the next start', async () => {
    {
      await using first = new Kept();
      await first.untilOurs(IPV4, IPV6);
    }
    assert.equal(await ours(), [IPV4, IPV6].join());
    const groups = [RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE];
    using events = openNetlink({ protocol: NETLINK_ROUTE, groups });
    await using second = new Kept();
    await second.until('a report', () => second.reports.length > 0);
    assert.deepEqual(second.changes, []);
    assert.equal(events.receive(), undefined, 'an event of a changed route');
  });

  it('reports a machine whose only address is loopback', async () => {
    ip('addr flush dev uplink');
    await using kept = new Kept();
    await kept.untilOurs(IPV4, IPV6);
    await kept.until('a problem', () => kept.reports.at(-1)?.[0]?.problem !== undefined);
    assert.match(kept.reports.at(-1)?.[0]?.problem ?? '', /only loopback/);
    ip('addr add 192.0.2.10/24 dev uplink');
    await kept.until('no problem', () => kept.reports.at(-1)?.[0]?.problem === undefined);
  });
});

describe('routes of ours', () => {
  it('are removed whatever their shape and table', async () => {
    const proto = `proto ${FAIRLEAD_PROTOCOL}`;
    ip(`route add ${IPV4} dev lo ${proto} metric 3`, `route add blackhole ${IPV6} ${proto}`);
    ip(`route add 198.18.0.0/15 via 192.0.2.1 table 1000 ${proto}`);
    ip('route add 203.0.113.0/24 via 192.0.2.1 proto 117');
    for (const route of await listOurRoutes()) assert.equal(await removeRoute(route), true);
    assert.equal(await ours(), '');
    assert.match(run(['ip', 'route']), /203\.0\.113/);
  });
});
