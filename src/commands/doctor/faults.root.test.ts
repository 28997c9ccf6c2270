import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { STATUS_SOCKET } from '../../config/run-folder.ts';
import { FOREIGN_CHAINS } from '../../doctor/checks/foreign-chains.ts';
import { RP_FILTER } from '../../doctor/checks/rp-filter.ts';
import { enterOwnNetwork, ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import { type ChildProgram, startChild } from '../../linux/testing/child-program.ts';
import { ipv4Packet, PROTOCOL, udpDatagram } from '../../linux/testing/packets/build.ts';
import { openTun } from '../../linux/testing/packets/tun.ts';
import { readPatient } from './examined-subject.ts';
import {
  type Agent,
  complaints,
  layNetwork,
  POD,
  setSysctl,
  startAgent,
} from './testing/examined-node.ts';

const HEALTHY_RUNS = 20;

before(() => {
  enterOwnNetwork();
  layNetwork();
});

interface Fault {
  readonly name: string;
  readonly plant: () => unknown;
  readonly heal: (planted: unknown) => unknown;
  /** Level and code. */
  readonly found: readonly string[];
}

const sysctl = (name: string, values: readonly [string, string], found: string): Fault => ({
  name: `${name} = ${values[0]}`,
  plant: () => setSysctl(name, values[0]),
  heal: () => setSysctl(name, values[1]),
  found: [found],
});

const links = (
  name: string,
  lines: { readonly plant: readonly string[]; readonly heal: readonly string[] },
  ...found: string[]
): Fault => ({
  name,
  plant: () => ip(...lines.plant),
  heal: () => ip(...lines.heal),
  found,
});

const rules = (
  name: string,
  lines: { readonly plant: string; readonly heal: string },
  found: string,
): Fault => ({
  name,
  plant: () => run(['sh', '-ec', lines.plant]),
  heal: () => run(['sh', '-ec', lines.heal]),
  found: [found],
});

const FAULTS: readonly Fault[] = [
  sysctl('net/ipv4/ip_forward', ['0', '1'], 'problem IP_FORWARD_OFF'),
  sysctl('net/ipv6/conf/all/forwarding', ['0', '1'], 'problem IP_FORWARD_OFF'),
  sysctl('net/ipv4/conf/pod-1/forwarding', ['0', '1'], 'problem IP_FORWARD_OFF_LINK'),
  sysctl('net/netfilter/nf_conntrack_tcp_loose', ['0', '1'], 'note TCP_LOOSE_OFF'),
  sysctl(
    'net/ipv4/ip_local_port_range',
    ['30000 60999', '32768 60999'],
    'note NODE_PORT_IN_LOCAL_RANGE',
  ),
  {
    name: 'strict rp_filter at a second uplink',
    plant: () => {
      ip(
        'link add eth1 type veth peer name outside-1',
        'link set outside-1 up',
        'addr add 198.51.100.1/24 dev eth1',
        'link set eth1 up',
        'route add default via 198.51.100.254 metric 500',
      );
      setSysctl('net/ipv4/conf/eth1/rp_filter', '1');
    },
    heal: () => ip('link delete eth1'),
    found: ['problem RP_FILTER_DROPS'],
  },
  links(
    'an unreachable endpoint',
    {
      plant: ['route add unreachable 10.244.2.20'],
      heal: ['route delete unreachable 10.244.2.20'],
    },
    'problem ENDPOINT_NO_ROUTE',
  ),
  links(
    'the route to a pod of this node deleted',
    { plant: [`route delete ${POD}`], heal: [`route add ${POD}/32 dev pod-1`] },
    'problem ENDPOINT_LOCAL_BY_DEFAULT_ROUTE',
  ),
  links(
    'an MTU of pods that does not fit the uplink',
    { plant: ['link set pod-1 mtu 9000'], heal: ['link set pod-1 mtu 1500'] },
    'note MTU_OF_PODS_ABOVE_PATH',
  ),
  links(
    'a tunnel with the MTU of its uplink',
    {
      plant: [
        'link add vx0 type vxlan id 7 local 192.0.2.1 dstport 4789',
        'link set vx0 mtu 1500 up',
        'route add 10.244.2.0/24 dev vx0',
      ],
      heal: ['link delete vx0'],
    },
    'problem MTU_OF_TUNNEL_TOO_LARGE',
  ),
  links(
    'the interface of kube-proxy in mode ipvs',
    {
      plant: ['link add kube-ipvs0 type veth peer name ipvs-peer'],
      heal: ['link delete kube-ipvs0'],
    },
    'problem KUBE_PROXY_LEFTOVERS',
  ),
  {
    name: 'pods on a bridge without netfilter',
    plant: () => {
      ip(
        'link add br0 type bridge',
        'link set br0 up',
        'link set pod-1 master br0',
        `route replace ${POD}/32 dev br0`,
      );
      run(['bridge', 'link', 'set', 'dev', 'pod-1', 'hairpin', 'on']);
      setSysctl('net/bridge/bridge-nf-call-iptables', '0');
    },
    heal: () => {
      setSysctl('net/bridge/bridge-nf-call-iptables', '1');
      ip('link set pod-1 nomaster', `route replace ${POD}/32 dev pod-1`, 'link delete br0');
    },
    found: ['problem BRIDGE_NETFILTER_OFF'],
  },
  links(
    'a bridge port without hairpin',
    {
      plant: [
        'link add br0 type bridge',
        'link set br0 up',
        'link set pod-1 master br0',
        `route replace ${POD}/32 dev br0`,
      ],
      heal: ['link set pod-1 nomaster', `route replace ${POD}/32 dev pod-1`, 'link delete br0'],
    },
    'note HAIRPIN_OFF',
  ),
  rules(
    'a chain of nft that drops by its policy',
    {
      plant:
        "nft 'add table inet hardening; add chain inet hardening fw { type filter hook forward priority 0; policy drop; }'",
      heal: 'nft delete table inet hardening',
    },
    'problem FOREIGN_POLICY_DROP',
  ),
  rules(
    'a chain of nft that accepts only what is for Docker',
    {
      plant:
        'nft \'add table ip docker; add chain ip docker fw { type filter hook forward priority 0; policy drop; }; add rule ip docker fw iifname "docker0" accept\'',
      heal: 'nft delete table ip docker',
    },
    'problem FOREIGN_POLICY_DROP',
  ),
  rules(
    'a chain of nft that accepts what is for pods',
    {
      plant:
        'nft \'add table ip cni; add chain ip cni fw { type filter hook forward priority 0; policy drop; }; add rule ip cni fw iifname "pod-*" accept\'',
      heal: 'nft delete table ip cni',
    },
    'note FOREIGN_POLICY_DROP',
  ),
  rules(
    'a chain of nft that may accept by a verdict map',
    {
      plant:
        "nft 'add table ip maps; add chain ip maps fw { type filter hook forward priority 0; policy drop; }; add rule ip maps fw ct state vmap { established : accept, new : accept }'",
      heal: 'nft delete table ip maps',
    },
    'note FOREIGN_POLICY_DROP',
  ),
  rules(
    'a rule of nft that drops, behind a jump',
    {
      plant:
        "nft 'add table ip6 fw; add chain ip6 fw deny; add chain ip6 fw in { type filter hook prerouting priority -150; }; add rule ip6 fw in jump deny; add rule ip6 fw deny tcp dport 80 drop'",
      heal: 'nft delete table ip6 fw',
    },
    'note FOREIGN_DROP_RULES',
  ),
  rules(
    'a policy of iptables-nft',
    { plant: 'iptables-nft -P FORWARD DROP', heal: 'nft delete table ip filter' },
    'problem FOREIGN_POLICY_DROP',
  ),
  rules(
    'a policy of iptables-legacy',
    { plant: 'iptables-legacy -P FORWARD DROP', heal: 'iptables-legacy -P FORWARD ACCEPT' },
    'problem FOREIGN_POLICY_DROP',
  ),
  rules(
    'a rule of ip6tables-legacy',
    {
      plant: 'ip6tables-legacy -A FORWARD -p tcp --dport 80 -j REJECT',
      heal: 'ip6tables-legacy -F FORWARD',
    },
    'note FOREIGN_DROP_RULES',
  ),
  rules(
    "kube-proxy's chains in iptables-nft",
    {
      plant: 'iptables-nft -t nat -N KUBE-SERVICES; iptables-nft -t nat -N KUBE-SVC-ABC',
      heal: 'nft delete table ip nat',
    },
    'problem KUBE_PROXY_LEFTOVERS',
  ),
  rules(
    "kube-proxy's chains in iptables-legacy",
    {
      plant: 'iptables-legacy -t nat -N KUBE-SERVICES',
      heal: 'iptables-legacy -t nat -X KUBE-SERVICES',
    },
    'problem KUBE_PROXY_LEFTOVERS',
  ),
  rules(
    "kube-proxy's table in nftables",
    {
      plant: "nft 'add table ip kube-proxy; add chain ip kube-proxy services'",
      heal: 'nft delete table ip kube-proxy',
    },
    'problem KUBE_PROXY_LEFTOVERS',
  ),
  {
    name: 'src_valid_mark with rules that select by mark',
    plant: () => {
      ip('rule add fwmark 0x2000/0x2000 lookup 118 protocol 119');
      setSysctl('net/ipv4/conf/all/src_valid_mark', '1');
    },
    heal: () => {
      ip('rule delete fwmark 0x2000/0x2000 lookup 118');
      setSysctl('net/ipv4/conf/all/src_valid_mark', '0');
    },
    found: ['problem SRC_VALID_MARK_ON'],
  },
  {
    name: 'a process at a node port',
    plant: async () => {
      const server = createServer().listen(30080, '0.0.0.0');
      await once(server, 'listening');
      return server;
    },
    heal: (server) => (server as ReturnType<typeof createServer>).close(),
    found: ['problem NODE_PORT_IN_USE'],
  },
  {
    name: 'kube-proxy beside the agent',
    plant: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'fairlead-doctor-'));
      const path = join(folder, 'kube-proxy');
      symlinkSync(run(['sh', '-c', 'command -v sleep']).trim(), path);
      return { folder, program: await startChild([path, '600']) };
    },
    heal: async (planted) => {
      const { folder, program } = planted as { folder: string; program: ChildProgram };
      program.send('SIGKILL');
      await program.ended;
      rmSync(folder, { recursive: true });
    },
    found: ['problem OTHER_PROXY'],
  },
];

describe('doctor on a node with an agent', () => {
  let agent: Agent;
  before(async () => {
    agent = await startAgent();
  });
  after(() => agent[Symbol.asyncDispose]());

  it(`has no complaint in ${HEALTHY_RUNS} runs`, async () => {
    for (let count = 0; count < HEALTHY_RUNS; count++) {
      assert.deepEqual(await complaints(agent.runFolder), []);
    }
  });

  it('has no complaint about strict rp_filter where no client comes from', async () => {
    ip(
      'link add docker0 type bridge',
      'addr add 172.17.0.1/16 dev docker0',
      'link set docker0 up',
      'link add vx0 type vxlan id 7 local 192.0.2.1 dstport 4789',
      'addr add 10.244.0.0/32 dev vx0',
      'link set vx0 mtu 1450 up',
      'route add 10.244.2.0/24 dev vx0',
      'link add pod-2 type veth peer name in-pod-2',
      'addr add 10.244.1.1/24 dev pod-2',
      'link set pod-2 up',
      'link set pod-1 mtu 1450',
    );
    setSysctl('net/ipv4/conf/all/rp_filter', '1');
    try {
      assert.deepEqual(await complaints(agent.runFolder), []);
    } finally {
      setSysctl('net/ipv4/conf/all/rp_filter', '0');
      ip('link set pod-1 mtu 1500', 'link delete pod-2', 'link delete vx0', 'link delete docker0');
    }
  });

  it('has no complaint about strict rp_filter at a second network without a router', async () => {
    ip(
      'link add eth1 type veth peer name outside-1',
      'link set outside-1 up',
      'addr add 198.51.100.1/24 dev eth1',
      'link set eth1 up',
    );
    setSysctl('net/ipv4/conf/eth1/rp_filter', '1');
    try {
      assert.deepEqual(await complaints(agent.runFolder), []);
    } finally {
      ip('link delete eth1');
    }
  });

  it('compares a tunnel with the uplink that carries it, and not with another', async () => {
    ip(
      'link add eth1 type veth peer name outside-1',
      'link set outside-1 up',
      'link set eth1 mtu 1280 up',
      'addr add 198.51.100.1/24 dev eth1',
      'route add default via 198.51.100.254 metric 500',
      'link add vx0 type vxlan id 7 local 192.0.2.1 dstport 4789',
      'link set vx0 mtu 1450 up',
      'route add 10.244.2.0/24 dev vx0',
      'link set pod-1 mtu 1450',
    );
    try {
      assert.deepEqual(await complaints(agent.runFolder), []);
      ip('link set vx0 mtu 1451');
      assert.deepEqual(await complaints(agent.runFolder), ['problem MTU_OF_TUNNEL_TOO_LARGE']);
    } finally {
      ip('link set pod-1 mtu 1500', 'link delete vx0', 'link delete eth1');
    }
  });

  for (const { name, plant, heal, found } of FAULTS) {
    it(`names ${name}`, async () => {
      const planted = await plant();
      try {
        assert.deepEqual(await complaints(agent.runFolder), found);
      } finally {
        await heal(planted);
      }
      assert.deepEqual(await complaints(agent.runFolder), []);
    });
  }

  it('blames no interface for what rp_filter dropped at another', async () => {
    const tun = openTun('tun7', 'tun');
    ip(
      'link add eth1 type veth peer name outside-1',
      'link set outside-1 up',
      'addr add 198.51.100.1/24 dev eth1',
      'link set eth1 up',
      'addr add 203.0.113.1/24 dev tun7',
      'link set tun7 up',
    );
    setSysctl('net/ipv4/conf/eth1/rp_filter', '1');
    setSysctl('net/ipv4/conf/tun7/rp_filter', '1');
    try {
      const ends = { source: POD, sourcePort: 7, destination: '203.0.113.1', destinationPort: 7 };
      const datagram = udpDatagram(ends, Buffer.from('x'));
      tun.send(ipv4Packet(ends, PROTOCOL.udp, { payload: datagram }));
      const found = await RP_FILTER.run((await readPatient(agent.runFolder)).subject);
      assert.deepEqual(
        found.map(({ level, code, what }) => `${level} ${code} ${what}`),
        ['note RP_FILTER_COUNTED rp_filter has dropped 1 packet; it is strict at tun7, eth1'],
      );
    } finally {
      ip('link delete eth1');
      tun.close();
    }
  });

  it('names the chain, handle and text of a rule behind a jump, and tells a reject from a drop', async () => {
    run([
      'nft',
      'add table ip6 fw; add chain ip6 fw deny; add chain ip6 fw refuse; ' +
        'add chain ip6 fw in { type filter hook prerouting priority -150; }; ' +
        'add chain ip6 fw out { type filter hook output priority 0; }; ' +
        'add rule ip6 fw in jump deny; add rule ip6 fw out jump refuse; ' +
        'add rule ip6 fw deny tcp dport 80 drop; add rule ip6 fw deny tcp dport 81 drop; ' +
        'add rule ip6 fw refuse tcp dport 82 reject',
    ]);
    run(['ip6tables-legacy', '-A', 'FORWARD', '-p', 'tcp', '--dport', '83', '-j', 'REJECT']);
    try {
      const found = await FOREIGN_CHAINS.run((await readPatient(agent.runFolder)).subject);
      assert.deepEqual(
        found.map(({ what, next }) => [
          what.replace(/handle \d+/, 'handle N'),
          next?.split(' shows ')[0],
        ]),
        [
          [
            'handle N of ip6 fw deny (nf_tables, prerouting, by way of in) drops packets: tcp dport 80 drop; 1 more rule drops or rejects',
            'nft -a list chain ip6 fw deny',
          ],
          [
            'handle N of ip6 fw refuse (nf_tables, output, by way of out) rejects packets: tcp dport 82 reject',
            'nft -a list chain ip6 fw refuse',
          ],
          [
            'rule 1 of ip6 filter FORWARD (iptables-legacy, forward) rejects packets: -A FORWARD -p tcp -m tcp --dport 83 -j REJECT --reject-with icmp6-port-unreachable',
            'ip6tables-legacy -t filter -S FORWARD',
          ],
        ],
      );
    } finally {
      run(['nft', 'delete table ip6 fw']);
      run(['ip6tables-legacy', '-F', 'FORWARD']);
    }
  });

  it('names an agent that does not answer, then one that was killed', async () => {
    agent.program.send('SIGSTOP');
    assert.deepEqual(await complaints(agent.runFolder), ['problem AGENT_SILENT']);
    agent.program.send('SIGKILL');
    await agent.program.ended;
    assert.deepEqual(await complaints(agent.runFolder), ['problem AGENT_DEAD']);
    // An agent of another folder was here before.
    assert.deepEqual(await complaints('/nonexistent'), ['problem AGENT_DEAD']);
  });

  it('says that the kernel has no rules after a flush, and is silent after cleanup', async () => {
    run(['nft', 'flush', 'ruleset']);
    const { subject } = await readPatient(agent.runFolder);
    assert.deepEqual(await subject.leftInKernel(), { objects: [], unread: [] });
    assert.deepEqual(await complaints(agent.runFolder), ['problem AGENT_DEAD']);
    const cleanup = ['cleanup', '--mode', 'nftables', '--run-folder', agent.runFolder];
    run([process.execPath, join(import.meta.dirname, '../../main.ts'), ...cleanup]);
    assert.ok(!existsSync(join(agent.runFolder, STATUS_SOCKET)));
    assert.deepEqual(await complaints(agent.runFolder), ['note AGENT_ABSENT']);
  });
});
