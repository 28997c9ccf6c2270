import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openNetlink } from '../../../../linux/netlink/netlink-socket.ts';
import { enterOwnNetwork, ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { NETLINK_NETFILTER } from '../../../../linux/nftables/nftables-protocol.ts';
import { listOurRoutes } from '../../../../linux/route/our-routes.ts';
import { SERVED_PORT, startHost } from '../../../../linux/testing/hosts/host.ts';
import {
  joinOutside,
  joinPod,
  type PlacedHost,
} from '../../../../linux/testing/hosts/placed-host.ts';
import { type StartedProgram, startProgram } from '../../../../linux/testing/started-program.ts';
import {
  deleteListenerRoutes,
  deleteReturnRoutes,
  keepListenerRoutes,
  keepReturnRoutes,
} from '../forwarder-routes.ts';
import { dialTransparently } from '../testing/transparent-dial.ts';
import { ReturnPath, returnMark } from './return-path.ts';

const MARK = 0x2000;
const HOLDER = fileURLToPath(new URL('../testing/hold-return-path.ts', import.meta.url));
const DEADLINE_MS = 10_000;

let endpoint: PlacedHost;
let outside: PlacedHost;

before(async () => {
  enterOwnNetwork();
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  writeFileSync('/proc/sys/net/ipv4/conf/all/rp_filter', '1');
  [endpoint, outside] = await Promise.all([
    startHost('endpoint').then((host) => joinPod(host, 1)),
    startHost('outside').then(joinOutside),
  ]);
});

after(() => {
  endpoint.close();
  outside.close();
});

const open = () => ReturnPath.open(openNetlink({ protocol: NETLINK_NETFILTER }), MARK);
const tables = () => run(['nft', 'list', 'tables']);

/** Connects to the endpoint from the address of the client outside, in both families. */
async function dials(): Promise<string[]> {
  const pairs = [
    [endpoint.ipv4, outside.ipv4],
    [endpoint.ipv6, outside.ipv6],
  ] as const;
  const answers: string[] = [];
  for (const [address, source] of pairs) {
    answers.push(await dialTransparently({ address, port: SERVED_PORT }, source));
  }
  return answers;
}

async function holder(): Promise<StartedProgram> {
  const program = await startProgram(HOLDER, [String(MARK)]);
  assert.equal(program.said.trim(), 'open');
  return program;
}

describe('the return path of the forwarder', () => {
  it('delivers answers to sockets that are bound to the address of a client', async () => {
    using _ = await open();
    assert.deepEqual(await dials(), [`endpoint ${outside.ipv4}`, `endpoint ${outside.ipv6}`]);
  });

  it('delivers them where another program masquerades the connection', async () => {
    const masquerade = (family: string) => `table ${family} theirs {
      chain out { type nat hook postrouting priority 100; oifname "pod-1" masquerade fully-random; }
    }`;
    run(['nft', '-f', '-'], `${masquerade('ip')}\n${masquerade('ip6')}`);
    using _ = await open();
    const answers = await dials();
    run(['nft', 'delete', 'table', 'ip', 'theirs']);
    run(['nft', 'delete', 'table', 'ip6', 'theirs']);
    assert.deepEqual(answers, ['endpoint 10.244.1.1', 'endpoint fd44:1::1']);
  });

  it('leaves packets of other sockets and to other machines alone', async () => {
    using _ = await open();
    const [answer] = await outside.ask({
      transport: 'TCP',
      address: endpoint.ipv4,
      port: SERVED_PORT,
      // In the range of ports of the forwarder, which has no socket for it.
      sourcePort: 20_000,
    });
    assert.deepEqual([answer?.by, answer?.saw], ['endpoint', outside.ipv4]);
  });

  it('is listed by nft in words', async () => {
    using _ = await open();
    const listing = run(['nft', 'list', 'ruleset']).replace(/forwarder-\w{8}/, 'forwarder-X');
    assert.equal(
      listing.replace(/ # progname.*/, ''),
      `table inet fairlead-forwarder-X {
	flags owner
	comment "answers to connections of the forwarder; ends with its process"

	chain answers {
		type filter hook prerouting priority dstnat + 10; policy accept;
		tcp dport 10240-32767 socket transparent 1 socket wildcard 0 meta mark set meta mark | 0x00002000
	}
}
`,
    );
  });

  it('ends with the process, and another one is there meanwhile', async () => {
    const [first, second] = [await holder(), await holder()];
    assert.equal(tables().match(/fairlead-forwarder-/g)?.length, 2);
    first.kill();
    await until(() => tables().match(/fairlead-forwarder-/g)?.length === 1);
    assert.deepEqual(await dials(), [`endpoint ${outside.ipv4}`, `endpoint ${outside.ipv6}`]);
    second.kill();
    await until(() => tables() === '');
  });

  it('uses another bit than the one that requests masquerading', () => {
    assert.deepEqual([returnMark(0x4000), returnMark(0x2000)], [0x2000, 0x1000]);
  });
});

describe('routes of the forwarder', () => {
  const listed = () =>
    ['-4', '-6'].map((family) => [
      ...lines(['ip', family, 'rule', 'list', 'priority', '118']),
      ...lines(['ip', family, 'route', 'list', 'table', '118']),
      ...lines(['ip', family, 'route', 'list', 'table', 'local', 'proto', '119']),
    ]);

  it('are added and deleted, however often, and belong to no one else', async () => {
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await keepReturnRoutes(MARK), { IPv4: true, IPv6: true });
      assert.deepEqual(await keepListenerRoutes(), { IPv4: true, IPv6: true });
    }
    assert.deepEqual(listed(), [
      [
        '118: from all fwmark 0x2000/0x2000 lookup 118 proto 119',
        'local default dev lo proto 119 scope host',
        'local 169.254.118.118 dev lo scope host',
      ],
      [
        '118: from all fwmark 0x2000/0x2000 lookup 118 proto 119',
        'local default dev lo proto 119 metric 1024 pref medium',
        'local fdfa:118:118::118 dev lo metric 1024 pref medium',
      ],
    ]);
    // Those would be compared with the ranges of Services, and deleted.
    assert.deepEqual(await listOurRoutes(), []);
    for (let round = 0; round < 2; round++) {
      await deleteReturnRoutes(MARK);
      await deleteListenerRoutes();
      assert.deepEqual(listed(), [[], []]);
    }
  });

  it('are of IPv4 alone where IPv6 is disabled', async () => {
    writeFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', '1');
    const kept = [await keepReturnRoutes(MARK), await keepListenerRoutes()];
    writeFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', '0');
    assert.deepEqual(kept, [
      { IPv4: true, IPv6: false },
      { IPv4: true, IPv6: false },
    ]);
    await deleteReturnRoutes(MARK);
    ip('address show dev lo');
  });
});

function lines(argv: readonly [string, ...string[]]): string[] {
  return run(argv)
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '');
}

async function until(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!isSo()) {
    assert.ok(performance.now() < deadlineMs, 'still not so');
    await sleep(10);
  }
}
