import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { beforeEach, describe, it } from 'node:test';
import { listIpsets } from '../../../../linux/ipvs/ipset/ipset.ts';
import { type VirtualServerKey, virtualServerId } from '../../../../linux/ipvs/ipvs-model.ts';
import { KernelIpvs } from '../../../../linux/ipvs/kernel-ipvs.ts';
import { WITHOUT_IPVS } from '../../../../linux/ipvs/testing/load-ipvs.ts';
import { enterOwnNetwork, ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { findLink } from '../../../../linux/route/change-links.ts';
import { WITHOUT_IPSET } from '../../../../linux/testing/kernel-ipset.ts';
import { systemClock } from '../../../../time/clock.ts';
import { until } from '../../../../time/testing/until.ts';
import { takeOverIpvs } from './take-over.ts';
import { makeLeftovers } from './testing/make-leftovers.ts';

const NODE = '192.0.2.10';
const FOREIGN_SET = 'KUBE-SRC-OF-A-NETWORK-POLICY';
const FOREIGN_SERVERS = [`${NODE} TCP 8443`, '198.51.100.1 TCP 30080'];
const THEIR_SERVERS = [
  '10.96.0.1 TCP 80',
  '10.96.0.2 UDP 53',
  `${NODE} TCP 30080`,
  'fd00:96::1 TCP 80',
];
const ipvs = new KernelIpvs();
const { signal } = new AbortController();

async function serverIds(): Promise<string[]> {
  return [...(await ipvs.read()).keys()].sort();
}

async function hasDevice(): Promise<boolean> {
  return (await findLink('kube-ipvs0')) !== undefined;
}

describe('what kube-proxy has left of ipvs mode', { skip: WITHOUT_IPVS || WITHOUT_IPSET }, () => {
  beforeEach(() => {
    enterOwnNetwork();
    ip(`addr add ${NODE}/32 dev lo`);
    makeLeftovers({ nodeAddress: NODE });
  });

  it('is removed with everything that is its own, and nothing else', async () => {
    await takeOverIpvs({ ipvs, clock: systemClock }, signal);
    assert.deepEqual(await serverIds(), FOREIGN_SERVERS);
    assert.deepEqual(await listIpsets(), [FOREIGN_SET]);
    assert.equal(await hasDevice(), false);
    let isFound = false;
    await takeOverIpvs({ ipvs, clock: systemClock, onFound: () => (isFound = true) }, signal);
    assert.equal(isFound, false, 'and is not found again');
  });

  it('is adopted by a mode that has virtual servers, before the device goes', async () => {
    const adopted: string[] = [];
    const adopt = async (servers: readonly VirtualServerKey[]) => {
      adopted.push(...servers.map(virtualServerId));
      assert.equal(await hasDevice(), true);
    };
    await takeOverIpvs({ ipvs, clock: systemClock, adopt }, signal);
    assert.deepEqual(adopted.sort(), THEIR_SERVERS);
    assert.deepEqual(await serverIds(), [...THEIR_SERVERS, ...FOREIGN_SERVERS].sort());
    assert.deepEqual([await hasDevice(), await listIpsets()], [false, [FOREIGN_SET]]);
  });

  it('stays while a connection goes through it', async () => {
    ip('link set kube-ipvs0 up', 'addr add 10.244.0.1/32 dev lo');
    // The reset at the end is an error for its socket.
    const listener = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
    listener.listen(8080, '10.244.0.1').unref();
    await once(listener, 'listening');
    const client = connect(80, '10.96.0.1');
    await once(client, 'connect');
    const taken = takeOverIpvs({ ipvs, clock: systemClock }, signal);
    await until('the end of idle servers', async () => (await serverIds()).length === 3);
    assert.deepEqual(await serverIds(), ['10.96.0.1 TCP 80', ...FOREIGN_SERVERS]);
    client.write('still there');
    const [answer] = await once(client, 'data');
    assert.equal(String(answer), 'still there');
    assert.equal(await hasDevice(), true);
    // IPVS forgets a connection that was reset after 10 s, others after minutes.
    client.resetAndDestroy();
    await taken;
    assert.deepEqual([await serverIds(), await hasDevice()], [FOREIGN_SERVERS, false]);
  });

  it('has sets that go when the last rule that uses them has gone', async () => {
    const rule = ['INPUT', '-m', 'set', '--match-set', 'KUBE-CLUSTER-IP', 'dst', '-j', 'ACCEPT'];
    run(['iptables', '-A', ...rule]);
    const taken = takeOverIpvs({ ipvs, clock: systemClock }, signal);
    await until('the end of unused sets', async () => (await listIpsets()).length === 2);
    assert.deepEqual(await listIpsets(), ['KUBE-CLUSTER-IP', FOREIGN_SET]);
    run(['iptables', '-D', ...rule]);
    await taken;
    assert.deepEqual(await listIpsets(), [FOREIGN_SET]);
  });
});
