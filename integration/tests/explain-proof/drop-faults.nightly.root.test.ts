import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import { readDropFacts } from '../../../src/commands/explain/proof/drop-reader.ts';
import { dropCause } from '../../../src/explain/drop-cause.ts';
import type { DropCause } from '../../../src/explain/dropped-packet.ts';
import { conntrackLosses } from '../../../src/linux/conntrack/table-use.ts';
import { dropObject } from '../../../src/linux/ebpf/drops/testing/drop-object.ts';
import {
  DEAF,
  NOBODY,
  NOWHERE,
  type NodeBetween,
  nodeBetween,
  SERVED,
  sysctl,
  VIRTUAL,
} from '../../../src/linux/ebpf/drops/testing/node-between.ts';
import { readUntil } from '../../../src/linux/ebpf/drops/testing/read-until.ts';
import { watchDrops } from '../../../src/linux/ebpf/drops/watch-drops.ts';
import { enterOwnNetwork, ip, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { kernelSysctls } from '../../../src/linux/sysctl.ts';
import type { Question } from '../../../src/linux/testing/hosts/host-messages.ts';

const PROTOCOLS = { TCP: 6, UDP: 17 } as const;
const SOURCE_PORT = 40_100;

enterOwnNetwork();
const object = dropObject();
let site: NodeBetween;
before(async () => {
  site = await nodeBetween();
  // Nobody answers for an address after three questions.
  sysctl('net.ipv4.neigh.pod-2.retrans_time_ms', 50);
  sysctl('net.ipv6.neigh.pod-2.retrans_time_ms', 50);
});

/** The cause of the first drop that has one, of a question of the client. */
async function causeOf(
  t: TestContext,
  question: Omit<Question, 'address'> & { readonly address?: string },
): Promise<DropCause | undefined> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const protocol = PROTOCOLS[question.transport];
  const ends = [{ port: SOURCE_PORT, protocol }];
  const networkNamespaces = site.namespaces.all;
  const watch = watchDrops({ object, ends, networkNamespaces }, stop.signal);
  const lossesBefore = conntrackLosses();
  const asked = { address: VIRTUAL.ipv4, sourcePort: SOURCE_PORT, timeoutMs: 500, ...question };
  await site.client.ask(asked);
  const machine = { sysctls: kernelSysctls(), lossesBefore };
  for (const drop of await readUntil(watch, 1)) {
    const cause = dropCause(drop, { facts: readDropFacts(drop, machine) });
    if (cause !== undefined) return cause;
  }
  return undefined;
}

function macOf(device: string): string {
  const [link] = JSON.parse(run(['ip', '-j', 'link', 'show', device])) as { address: string }[];
  return link?.address ?? '';
}

describe('each fault has its code', () => {
  it('rp_filter, where the way back is by another interface', async (t) => {
    site.client.ip('addr add 192.0.2.77/32 dev eth0');
    site.client.ip(`route add ${VIRTUAL.ipv4} via 10.244.1.1 src 192.0.2.77`);
    // The filter drops ARP requests of this address as well.
    site.client.ip(`neigh replace 10.244.1.1 lladdr ${macOf('pod-1')} dev eth0 nud permanent`);
    sysctl('net.ipv4.conf.pod-1.rp_filter', 1);
    t.after(() => {
      sysctl('net.ipv4.conf.pod-1.rp_filter', 0);
      site.client.ip('addr del 192.0.2.77/32 dev eth0', 'neigh del 10.244.1.1 dev eth0');
    });
    const cause = await causeOf(t, { transport: 'TCP', port: SERVED });
    assert.equal(cause?.code, 'DROPPED_REVERSE_PATH');
    assert.match(cause.sentence, /reverse path filter of pod-1, rp_filter is 1/);
  });

  it('a node that does not forward', async (t) => {
    sysctl('net.ipv4.ip_forward', 0);
    t.after(() => sysctl('net.ipv4.ip_forward', 1));
    const cause = await causeOf(t, { transport: 'TCP', port: SERVED });
    assert.equal(cause?.code, 'NOT_FORWARDED');
    assert.deepEqual(cause.next, ['set net.ipv4.ip_forward to 1']);
  });

  it('a node that does not forward IPv6', async (t) => {
    sysctl('net.ipv6.conf.all.forwarding', 0);
    t.after(() => sysctl('net.ipv6.conf.all.forwarding', 1));
    const cause = await causeOf(t, { transport: 'TCP', port: SERVED, address: VIRTUAL.ipv6 });
    assert.equal(cause?.code, 'NOT_FORWARDED');
  });

  for (const address of Object.values(VIRTUAL)) {
    it(`no route to the endpoint, asked at ${address}`, async (t) => {
      const cause = await causeOf(t, { transport: 'TCP', port: NOWHERE, address });
      assert.equal(cause?.code, 'NO_ROUTE');
    });

    it(`no machine with the address of the endpoint, asked at ${address}`, async (t) => {
      const cause = await causeOf(t, { transport: 'TCP', port: NOBODY, address });
      assert.equal(cause?.code, 'NO_NEIGHBOUR');
    });

    for (const transport of ['TCP', 'UDP'] as const) {
      it(`no socket at the endpoint, asked at ${address} by ${transport}`, async (t) => {
        const cause = await causeOf(t, { transport, port: DEAF, address, connected: true });
        assert.equal(cause?.code, 'ENDPOINT_REFUSES');
      });
    }

    it(`a datagram that is larger than the MTU, asked at ${address}`, async (t) => {
      ip('link set pod-2 mtu 1300');
      t.after(() => ip('link set pod-2 mtu 1500'));
      const question = { transport: 'UDP', port: SERVED, address, payloadBytes: 1400 } as const;
      const cause = await causeOf(t, question);
      assert.equal(cause?.code, 'TOO_BIG');
    });
  }

  for (const hook of ['prerouting', 'forward', 'postrouting'] as const) {
    it(`a rule of another program in ${hook}`, async (t) => {
      run(['nft', 'add table inet planted']);
      t.after(() => run(['nft', 'delete table inet planted']));
      run(['nft', `add chain inet planted guard { type filter hook ${hook} priority 10; }`]);
      run(['nft', 'add rule inet planted guard meta l4proto tcp drop']);
      const cause = await causeOf(t, { transport: 'TCP', port: SERVED });
      assert.equal(cause?.code, 'DROPPED_BY_RULE');
    });
  }
});
