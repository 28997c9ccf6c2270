import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openNetlink } from '../../../../../linux/netlink/netlink-socket.ts';
import { enterOwnNetwork, ip, run } from '../../../../../linux/netlink/testing/own-namespace.ts';
import { NETLINK_NETFILTER } from '../../../../../linux/nftables/nftables-protocol.ts';
import { SERVED_PORT, startHost } from '../../../../../linux/testing/hosts/host.ts';
import { joinPod, type PlacedHost } from '../../../../../linux/testing/hosts/placed-host.ts';
import { KEPT_PORTS, readLocalPorts } from '../../../../../linux/userspace/source-ports.ts';
import { ReturnPath } from '../return-path.ts';
import { TestMainThread } from './testing/main-thread.ts';

const MARK = 0x2000;
const FAMILIES = {
  ipv4: { own: '169.254.118.118', frontend: '10.96.0.1', family: 'ip', node: '10.244.2.1' },
  ipv6: { own: 'fdfa:118:118::118', frontend: 'fd96::1', family: 'ip6', node: 'fd44:2::1' },
} as const;
const mains: TestMainThread[] = [];
let client: PlacedHost;
let endpoint: PlacedHost;
let returnPath: ReturnPath;

before(async () => {
  enterOwnNetwork();
  for (const path of ['ipv4/ip_forward', 'ipv6/conf/all/forwarding']) {
    writeFileSync(`/proc/sys/net/${path}`, '1');
  }
  client = joinPod(await startHost('client'), 1);
  endpoint = joinPod(await startHost('endpoint'), 2);
  returnPath = await ReturnPath.open(openNetlink({ protocol: NETLINK_NETFILTER }), MARK);
});
after(async () => {
  for (const main of mains) await main.stop();
  returnPath[Symbol.dispose]();
  client.close();
  endpoint.close();
});

for (const version of ['ipv4', 'ipv6'] as const) {
  describe(`source addresses of ${version}`, () => {
    const { own, frontend: address, family, node } = FAMILIES[version];
    let main: TestMainThread;

    before(async () => {
      ip(`route add local ${own} dev lo table local`);
      main = new TestMainThread({ address: own });
      mains.push(main);
      await main.ready();
      const target = version === 'ipv4' ? own : `[${own}]`;
      run(
        ['nft', '-f', '-'],
        `table ${family} test { chain in { type nat hook prerouting priority -100;
           ${family} daddr ${address} meta l4proto tcp dnat to ${target}:${main.listener.port}; }; }`,
      );
    });

    function frontendTo(host: PlacedHost, port: number, masquerade: boolean) {
      main.setList(port, [{ slot: port, address: host[version], port: SERVED_PORT }]);
      main.setTarget({ address, port }, { list: port, masquerade });
      return { transport: 'TCP', address, port } as const;
    }

    it("shows the endpoint the client's address where nothing masquerades", async () => {
      const answers = await client.ask({ ...frontendTo(endpoint, 81, false), count: 50 });
      for (const { by, saw, sawPort, from } of answers) {
        assert.deepEqual([by, saw, from], ['endpoint', client[version], address]);
        assert.ok(sawPort >= KEPT_PORTS.first && sawPort <= KEPT_PORTS.last);
      }
    });

    it('shows it our own address where the kernel modes masquerade', async () => {
      const [answer] = await client.ask(frontendTo(endpoint, 82, true));
      assert.deepEqual([answer?.by, answer?.saw], ['endpoint', node]);
    });

    // The kernel looks for a socket before it translates an answer to the node back.
    it('has a port that no socket of the node gets from the kernel, with our own address too', async () => {
      const used = readLocalPorts();
      const answers = await client.ask({ ...frontendTo(endpoint, 85, true), count: 50 });
      for (const { saw, sawPort } of answers) {
        assert.equal(saw, node);
        assert.ok(sawPort < used.first || sawPort > used.last, `${sawPort}`);
      }
    });

    it('shows it our own address where answers would not come home', async () => {
      const other = new TestMainThread({ address: own, keepsClientAddress: false });
      mains.push(other);
      await other.ready();
      const target = version === 'ipv4' ? own : `[${own}]`;
      run(
        ['nft', '-f', '-'],
        `table ${family} other { chain in { type nat hook prerouting priority -101;
           ${family} daddr ${address} tcp dport 84 dnat to ${target}:${other.listener.port}; }; }`,
      );
      other.setList(84, [{ slot: 84, address: endpoint[version], port: SERVED_PORT }]);
      other.setTarget({ address, port: 84 }, { list: 84, masquerade: false });
      const [answer] = await client.ask({ transport: 'TCP', address, port: 84 });
      assert.deepEqual([answer?.by, answer?.saw], ['endpoint', node]);
    });

    it('uses our own address for a pod that asks itself', async () => {
      const [answer] = await endpoint.ask(frontendTo(endpoint, 83, false));
      assert.deepEqual([answer?.by, answer?.saw], ['endpoint', node]);
    });
  });
}
