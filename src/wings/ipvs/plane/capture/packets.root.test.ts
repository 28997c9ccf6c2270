import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SOURCE_CLASSES, type SourceClass } from '../../../../forwarding/model.ts';
import { WITHOUT_IPVS } from '../../../../linux/ipvs/testing/load-ipvs.ts';
import { ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import type { Host } from '../../../../linux/testing/hosts/host.ts';
import type { Answer, Peer } from '../../../../linux/testing/hosts/host-messages.ts';
import type { Capture, CapturedFrontend } from './frontend.ts';
import { nft } from './testing/capture-kernel.ts';
import {
  addBehind,
  drain,
  enterNode,
  enterSite,
  frontendsOf,
  leaveSite,
  NODE,
  SITE_FACTS,
  type Site,
  serve,
  setIpvsSysctls,
  TRANSPORTS,
  UPLINK,
  VERSIONS,
  type Version,
  virtualAddress,
} from './testing/site.ts';

const TAKE: CapturedFrontend['capture'] = { pod: 'take', host: 'take', outside: 'take' };
/** The node's address on the way to the endpoint. */
const NEAR_IPVS = { ipv4: '10.244.2.1', ipv6: 'fd44:2::1' } as const;

let entered: Site | undefined;
const site = (): Site => {
  assert.ok(entered);
  return entered;
};
const hostOf = (from: SourceClass): Host =>
  ({ pod: site().pod, host: site().node, outside: site().outside })[from];

before(async () => {
  if (WITHOUT_IPVS) return;
  enterNode();
  setIpvsSysctls();
  entered = await enterSite();
});
beforeEach(async () => {
  if (entered === undefined) return;
  run(['ipvsadm', '-C']);
  await site().captures.remove();
  nft('flush ruleset');
  run(['conntrack', '-F']);
  addBehind(site());
  await site().captures.ensure(SITE_FACTS);
});
after(() => {
  if (entered) leaveSite(entered);
});

const WAYS = VERSIONS.flatMap((version) => TRANSPORTS.map((transport) => ({ version, transport })));
type Way = (typeof WAYS)[number];

function peer(number: number, { version, transport }: Way, more: Partial<Peer> = {}): Peer {
  return { transport, address: virtualAddress(number)[version], port: 80, ...more };
}

async function one(host: Host, to: Peer): Promise<Answer> {
  const [answer] = await host.ask(to);
  assert.ok(answer);
  return answer;
}

async function take(number: number, capture = TAKE): Promise<void> {
  serve(number, site().ipvs);
  await site().captures.write({ take: frontendsOf(number, capture) });
}

/** Every capture of every class is in one of them. */
const MIXED: readonly Readonly<Record<SourceClass, Capture>>[] = [
  { pod: 'take', host: 'take-and-masquerade', outside: 'pass' },
  { pod: 'take-and-masquerade', host: 'pass', outside: 'take' },
  { pod: 'pass', host: 'take', outside: 'take-and-masquerade' },
];

function seen(from: SourceClass, capture: Capture, version: Version): string {
  if (capture === 'take-and-masquerade') return NEAR_IPVS[version];
  const { pod, outside } = site();
  return { pod: pod[version], outside: outside[version], host: UPLINK[version] }[from];
}

for (const way of WAYS) {
  const { version, transport } = way;
  describe(`${transport} over ${version}`, { skip: WITHOUT_IPVS, concurrency: false }, () => {
    it('goes to IPVS or behind as the capture of its source class says', async () => {
      for (const [index, capture] of MIXED.entries()) await take(index + 1, capture);
      for (const [index, capture] of MIXED.entries()) {
        for (const from of SOURCE_CLASSES) {
          const { by, saw } = await one(hostOf(from), peer(index + 1, way));
          const what = `${from}, ${capture[from]}`;
          if (capture[from] === 'pass') assert.equal(by, 'behind', what);
          else assert.deepEqual([by, saw], ['ipvs', seen(from, capture[from], version)], what);
        }
      }
    });

    it('reaches an endpoint from itself', async () => {
      await take(1);
      await site().captures.write({ hairpinAdd: [site().ipvs[version]] });
      const { by, saw } = await one(site().ipvs, peer(1, way));
      assert.deepEqual([by, saw], ['ipvs', NEAR_IPVS[version]]);
    });

    it('reaches an endpoint with an address of this node', async () => {
      const { pod, node, outside, captures } = site();
      serve(1, NODE);
      await captures.write({ take: frontendsOf(1, TAKE) });
      for (const host of [pod, node, outside]) {
        assert.equal((await one(host, peer(1, way))).by, 'node', host.name);
      }
    });

    it('does not reach a port of the node at the address of a Service', async () => {
      await take(1);
      for (const host of [site().pod, site().node]) {
        const answer = await one(host, peer(1, way, { port: 8080, timeoutMs: 500 }));
        assert.notEqual(answer.by, 'node');
      }
    });

    it('stays with IPVS when its frontend leaves the map', async () => {
      await take(1);
      const held = await Promise.all(SOURCE_CLASSES.map((from) => hostOf(from).hold(peer(1, way))));
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      await site().captures.write({ pass: frontendsOf(1, TAKE) });
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      for (const from of SOURCE_CLASSES) {
        assert.equal((await one(hostOf(from), peer(1, way))).by, 'behind');
      }
    });

    it('stays behind when its frontend is captured', async () => {
      const held = await Promise.all(SOURCE_CLASSES.map((from) => hostOf(from).hold(peer(1, way))));
      for (const each of held) assert.equal((await each.speak()).by, 'behind');
      await take(1);
      for (const each of held) assert.equal((await each.speak()).by, 'behind');
      for (const from of SOURCE_CLASSES) {
        assert.equal((await one(hostOf(from), peer(1, way))).by, 'ipvs');
      }
    });

    it('goes on when the tables are retired, and new connections go behind', async () => {
      await take(1);
      const held = await Promise.all(SOURCE_CLASSES.map((from) => hostOf(from).hold(peer(1, way))));
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      await site().captures.retire();
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      for (const from of SOURCE_CLASSES) {
        assert.equal((await one(hostOf(from), peer(1, way))).by, 'behind');
      }
    });

    it('goes on after a deleted table and deleted routing rules are restored', async () => {
      await take(1);
      const held = await Promise.all(SOURCE_CLASSES.map((from) => hostOf(from).hold(peer(1, way))));
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      nft('delete table ip fairlead-ipvs; delete table ip6 fairlead-ipvs');
      ip('rule del priority 120');
      run(['ip', '-6', 'rule', 'del', 'priority', '120']);
      await site().captures.ensure(SITE_FACTS);
      await site().captures.write({ take: frontendsOf(1, TAKE) });
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      for (const from of SOURCE_CLASSES) {
        assert.equal((await one(hostOf(from), peer(1, way))).by, 'ipvs');
      }
    });

    it('leaves this node where no rule wants it, beside a virtual server that drains', async () => {
      await take(1);
      const held = await site().node.hold(peer(1, way));
      assert.equal((await held.speak()).by, 'ipvs');
      const frontends = frontendsOf(1, TAKE);
      await site().captures.write({ pass: frontends, serversAdd: frontends });
      drain(1, site().ipvs);
      nft('delete table ip behind; delete table ip6 behind');
      // Longer than the time after which a SYN is sent again.
      const question = peer(1, way, { connected: true, timeoutMs: 2000 });
      assert.equal((await one(site().node, question)).by, 'TIMEOUT');
      assert.equal((await held.speak()).by, 'ipvs');
    });

    it('is rejected when IPVS does not know it', async () => {
      await take(1);
      const held = await Promise.all(
        SOURCE_CLASSES.map((from) =>
          hostOf(from).hold(peer(1, way, { connected: true, timeoutMs: 2000 })),
        ),
      );
      for (const each of held) assert.equal((await each.speak()).by, 'ipvs');
      run(['ipvsadm', '-C']);
      // IPv4 sends no ICMP error from an address that is not the node's: silence then.
      const silence = version === 'ipv4' ? ['TIMEOUT'] : [];
      const rejections = transport === 'TCP' ? ['ECONNRESET'] : ['ECONNREFUSED', ...silence];
      for (const [index, each] of held.entries()) {
        // With the first packet IPVS notices that the destination is gone, and drops it.
        const answers = [await each.speak()];
        if (answers[0]?.by === 'TIMEOUT') answers.push(await each.speak());
        assert.ok(
          answers.some(({ by }) => rejections.includes(by)),
          `${SOURCE_CLASSES[index]}: ${answers.map(({ by }) => by)}`,
        );
      }
    });

    it('goes behind when it comes by another interface than those of clients', async () => {
      await take(1);
      const { captures, pod, node, outside } = site();
      await captures.configure({ ...SITE_FACTS, clientInterfaces: ['pod-*'] });
      const by = [];
      for (const host of [pod, node, outside]) by.push((await one(host, peer(1, way))).by);
      assert.deepEqual(by, ['ipvs', 'ipvs', 'behind']);
    });

    it('keeps other marks of its packets, and loses ours', async () => {
      await take(1);
      const [family, number] = version === 'ipv4' ? ['ip', 4] : ['ip6', 6];
      nft(`table ${family} marks {
        chain early { type filter hook prerouting priority -200; meta l4proto ${transport.toLowerCase()} meta mark set 0x40; }
        chain early-output { type filter hook output priority -200; ${family} daddr ${virtualAddress(1)[version]} meta mark set 0x40; }
        chain late { type filter hook postrouting priority 300;
          ${family} daddr ${site().ipvs[version]} th dport 8080 meta mark 0x40 counter comment "kept"
          ${family} daddr ${site().ipvs[version]} th dport 8080 meta mark != 0x40 counter comment "lost"
        }
      }`);
      assert.ok(number);
      for (const from of SOURCE_CLASSES) {
        assert.equal((await one(hostOf(from), peer(1, way))).by, 'ipvs');
      }
      const listing = run(['nft', 'list', 'chain', family as string, 'marks', 'late']);
      const count = (name: string) =>
        Number(new RegExp(`counter packets (\\d+) .*"${name}"`).exec(listing)?.[1]);
      assert.ok(count('kept') >= 3);
      assert.equal(count('lost'), 0, listing);
    });
  });
}

for (const version of VERSIONS) {
  it(`leaves an unanswered UDP flow over ${version} behind when its frontend is captured`, {
    skip: WITHOUT_IPVS,
  }, async () => {
    const way = { version, transport: 'UDP' } as const;
    const family = version === 'ipv4' ? 'ip' : 'ip6';
    // Before conntrack, for which one answer establishes a flow.
    nft(`table ${family} silence {
      chain raw { type filter hook prerouting priority -300; udp sport 8080 drop; }
    }`);
    const held = await site().pod.hold(peer(1, way, { timeoutMs: 300 }));
    assert.equal((await held.speak()).by, 'TIMEOUT');
    await take(1);
    nft(`delete table ${family} silence`);
    assert.equal((await held.speak()).by, 'behind');
    assert.equal((await one(site().pod, peer(1, way))).by, 'ipvs');
  });
}

for (const version of VERSIONS) {
  it(`tells clients over ${version} of a narrow route to the endpoint`, {
    skip: WITHOUT_IPVS,
  }, async () => {
    await take(1);
    const { ipvs } = site();
    const route = `${ipvs[version]} dev ${ipvs.device}`;
    ip(`route add ${route} mtu 1280`);
    try {
      // A single segment: the kernel fragments longer ones, which come as one packet of several segments.
      const question = { ...peer(1, { version, transport: 'TCP' }), payloadBytes: 1400 };
      for (const from of SOURCE_CLASSES) {
        const [answer] = await hostOf(from).ask(question);
        assert.equal(answer?.by, 'ipvs', from);
      }
    } finally {
      ip(`route delete ${route}`);
    }
  });
}
