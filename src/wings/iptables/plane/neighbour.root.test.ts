import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { enterOwnNetwork, ip } from '../../../linux/netlink/testing/own-namespace.ts';
import { ipv4Packet, PROTOCOL, udpDatagram } from '../../../linux/testing/packets/build.ts';
import { openTun, type Tun } from '../../../linux/testing/packets/tun.ts';
import { BACKENDS } from '../../../linux/xtables/iptables-programs.ts';
import { bring, Tools } from './testing/bring-iptables.ts';
import { upstreamRows } from './testing/iptables-rows.ts';

const NODE = '198.18.0.1';
const NEIGHBOUR = '198.18.0.2';
const LOOPBACK = '127.0.0.1';
const PORT = 5300;
/**
 * The setting that node ports on 127.0.0.1 need; without the rule it opens 127.0.0.1 to the
 * network.
 */
const ROUTE_LOCALNET = '/proc/sys/net/ipv4/conf/all/route_localnet';

async function listener(t: TestContext, address: string): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4').bind(PORT, address);
  t.after(() => socket.close());
  await once(socket, 'listening');
  return socket;
}

function send(wire: Tun, to: { destination: string; sourcePort: number }): void {
  const ends = { source: NEIGHBOUR, ...to, destinationPort: PORT };
  const payload = udpDatagram(ends, Buffer.from('x'));
  wire.send(ipv4Packet(ends, PROTOCOL.udp, { payload }));
}

for (const backend of BACKENDS) {
  const tools = new Tools(backend);

  describe(`a neighbour on the node's network, iptables mode on ${backend}`, () => {
    let wire: Tun;
    before(() => {
      tools.prepare();
    });
    after(() => tools.remove());
    beforeEach(() => {
      enterOwnNetwork();
      wire = openTun('tun0', 'tun');
      ip('link set tun0 up', `address add ${NODE}/24 dev tun0`);
      writeFileSync(ROUTE_LOCALNET, '1');
    });

    it('reaches nothing that listens on 127.0.0.1, although the kernel would route it', async (t) => {
      const [hidden, open] = [await listener(t, LOOPBACK), await listener(t, NODE)];
      let sourcePort = 1000;
      let hiddenCount = 0;
      hidden.on('message', () => hiddenCount++);
      const reachesHidden = async (): Promise<boolean> => {
        const countBefore = hiddenCount;
        // Another port each time, so that it is no packet of a flow that was let through.
        sourcePort++;
        send(wire, { destination: LOOPBACK, sourcePort });
        // By the same wire after the other: once it is here, both have been decided on.
        send(wire, { destination: NODE, sourcePort });
        await once(open, 'message');
        // In the same iteration the other socket may come after this one.
        await nextIteration();
        return hiddenCount > countBefore;
      };
      assert.equal(await reachesHidden(), true, 'without the rules it does');
      const plane = tools.newPlane();
      await bring(plane, upstreamRows());
      assert.equal(await reachesHidden(), false);
      // The setting outlives the rules, for whichever proxy comes next: so does this one.
      await plane.remove();
      assert.equal(await reachesHidden(), false);
    });
  });
}
