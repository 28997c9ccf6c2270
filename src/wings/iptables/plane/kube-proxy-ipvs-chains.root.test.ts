import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { WITHOUT_IPSET } from '../../../linux/testing/kernel-ipset.ts';
import { BACKENDS } from '../../../linux/xtables/iptables-programs.ts';
import { Tools } from './testing/bring-iptables.ts';

beforeEach(enterOwnNetwork);

const SETS = `
create KUBE-CLUSTER-IP hash:ip,port family inet
create KUBE-LOOP-BACK hash:ip,port,ip family inet
create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
create KUBE-HEALTH-CHECK-NODE-PORT bitmap:port range 0-65535
create KUBE-IPVS-IPS hash:ip family inet
`;

const RULES = `
*nat
:KUBE-SERVICES - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-LOAD-BALANCER - [0:0]
:KUBE-MARK-MASQ - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-SERVICES -m comment --comment "cluster ip" -m set --match-set KUBE-CLUSTER-IP src,dst -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT
-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT
-A KUBE-NODE-PORT -p tcp -m set --match-set KUBE-NODE-PORT-TCP dst -j KUBE-MARK-MASQ
-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MASQUERADE
COMMIT
*filter
:KUBE-FIREWALL - [0:0]
:KUBE-FORWARD - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-SOURCE-RANGES-FIREWALL - [0:0]
:KUBE-IPVS-FILTER - [0:0]
:KUBE-IPVS-OUT-FILTER - [0:0]
-A INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
-A INPUT -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL
-A INPUT -m comment --comment "kubernetes health check rules" -j KUBE-NODE-PORT
-A INPUT -j KUBE-FIREWALL
-A FORWARD -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL
-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
-A OUTPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-OUT-FILTER
-A KUBE-FIREWALL -s 192.0.2.99 -j DROP
-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT
-A KUBE-NODE-PORT -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j ACCEPT
-A KUBE-SOURCE-RANGES-FIREWALL -j DROP
-A KUBE-IPVS-FILTER -m set --match-set KUBE-CLUSTER-IP dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m conntrack --ctstate NEW -m set --match-set KUBE-IPVS-IPS dst -j REJECT
COMMIT
`.trimStart();

for (const backend of BACKENDS) {
  const tools = new Tools(backend);

  describe(`chains of kube-proxy in ipvs mode on ${backend}`, { skip: WITHOUT_IPSET }, () => {
    before(() => tools.prepare());
    after(() => tools.remove());

    it('are removed with the others, but not what the kubelet has', async () => {
      run(['ipset', 'restore'], SETS);
      run([`iptables-${backend}-restore`], RULES);
      await tools.newPlane().remove();
      const left = run([`iptables-${backend}-save`])
        .split('\n')
        .filter((line) => /KUBE/.test(line));
      assert.deepEqual(
        left.map((line) => line.replace(/ \[.*/, '')),
        [
          ':KUBE-FIREWALL -',
          '-A INPUT -j KUBE-FIREWALL',
          '-A KUBE-FIREWALL -s 192.0.2.99/32 -j DROP',
        ],
      );
      // No rule uses them any more.
      run(['ipset', 'destroy']);
    });
  });
}
