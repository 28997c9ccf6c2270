import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blockAddress, blockCidr, FAMILIES, type Family } from '../../lab/network/plan.ts';
import { BARE_PORT, BareNetwork } from '../../lab/network/testing/bare-network.ts';
import type { Outcome } from './outcome.ts';
import { askPing } from './ping.ts';
import { StreamFlow } from './tcp.ts';
import { UdpFlow } from './udp.ts';

const VIP = { ipv4: '10.96.0.7', ipv6: 'fd00:96::7' } as const;
const PORT = 80;
const NARROW = 1280;

/** What a proxy would write on node1: the address of a Service leads to the second pod. */
function translation(bare: BareNetwork): string {
  const to = bare.podAddress(2);
  return `table inet proxy {
    chain services {
      type nat hook prerouting priority dstnat; policy accept;
      ip daddr ${VIP.ipv4} meta l4proto { tcp, udp } th dport ${PORT} dnat ip to ${to.ipv4}:${BARE_PORT}
      ip6 daddr ${VIP.ipv6} meta l4proto { tcp, udp } th dport ${PORT} dnat ip6 to [${to.ipv6}]:${BARE_PORT}
    }
  }`;
}

function dropping(match: string): string {
  return `table inet fault {
    chain drop-it { type filter hook prerouting priority raw - 200; policy accept; ${match} drop; }
  }`;
}

async function ask(
  bare: BareNetwork,
  how: { protocol: 'TCP' | 'UDP'; family: Family; bytes: number },
): Promise<Outcome> {
  const origin = { namespace: bare.path('pod1') };
  const to = { address: VIP[how.family], port: PORT };
  const flow =
    how.protocol === 'TCP' ? StreamFlow.overTcp(origin, to) : await UdpFlow.open(origin, to);
  try {
    return await flow.ask(how.bytes);
  } finally {
    flow.close();
  }
}

describe('questions about packets', { timeout: 120_000 }, () => {
  for (const family of FAMILIES) {
    it(`${family}: a transfer finds the narrow path, unless the node's errors are lost`, async () => {
      await using bare = await BareNetwork.build({ network: 'plain', pathMtu: NARROW });
      await bare.nft('node1', translation(bare));
      const asked = { protocol: 'TCP', family, bytes: 60_000 } as const;
      await bare.nft('pod1', dropping(tooBig(family)));
      assert.equal((await ask(bare, asked)).kind, 'failed');
      await bare.nft('pod1', 'delete table inet fault');
      assert.equal((await ask(bare, asked)).kind, 'answered');
    });

    it(`${family}: a datagram in fragments comes back, unless fragments are lost`, async () => {
      await using bare = await BareNetwork.build({ network: 'plain' });
      await bare.nft('node1', translation(bare));
      const asked = { protocol: 'UDP', family, bytes: 20_000 } as const;
      assert.equal((await ask(bare, asked)).kind, 'answered');
      await bare.nft('node1', dropping(fragment(family)));
      assert.equal((await ask(bare, asked)).kind, 'silent');
      assert.equal((await ask(bare, { ...asked, bytes: 1_000 })).kind, 'answered');
    });

    it(`${family}: a ping is echoed, rejected or silent`, async () => {
      await using bare = await BareNetwork.build({ network: 'plain' });
      const origin = { namespace: bare.path('pod1') };
      const to = { address: bare.podAddress(2)[family] };
      const first = await askPing(origin, to);
      assert.equal(first.kind, 'echoed', await bare.counters());
      assert.equal((await askPing(origin, { address: VIP[family] })).kind, 'silent');
      await bare.nft(
        'node1',
        `table inet fault {
          chain refuse { type filter hook forward priority 0; policy accept; meta l4proto { icmp, icmpv6 } reject; }
        }`,
      );
      assert.equal((await askPing(origin, to)).kind, 'refused');
    });

    it(`${family}: every address of a block answers by itself`, async () => {
      const block = blockCidr(2, 1);
      await using bare = await BareNetwork.build({ network: 'plain', block });
      for (const number of [1, 4_000, 8_190]) {
        const address = blockAddress(2, 1, number)[family];
        const flow = StreamFlow.overTcp(
          { namespace: bare.path('pod1') },
          { address, port: BARE_PORT },
        );
        const outcome = await flow.ask();
        flow.close();
        assert.equal(outcome.kind === 'answered' ? outcome.by : outcome.kind, address);
      }
    });
  }
});

function tooBig(family: Family): string {
  return family === 'ipv4'
    ? 'icmp type destination-unreachable icmp code 4'
    : 'icmpv6 type packet-too-big';
}

function fragment(family: Family): string {
  return family === 'ipv4' ? 'ip frag-off & 0x1fff != 0' : 'exthdr frag exists';
}
