import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { KernelIpvs } from '../../linux/ipvs/kernel-ipvs.ts';
import { ipvsadmLines, WITHOUT_IPVS } from '../../linux/ipvs/testing/load-ipvs.ts';
import { ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import { findLink } from '../../linux/route/change-links.ts';
import { SERVED_PORT } from '../../linux/testing/hosts/host.ts';
import { NFTABLES } from '../../modes/nftables.ts';
import { systemClock } from '../../time/clock.ts';
import { until } from '../../time/testing/until.ts';
import { IPVS_PART } from './ipvs-part.ts';
import { takeOverIpvs } from './plane/kube-proxy/take-over.ts';
import {
  assertAllServed,
  clusterIp,
  type IpvsSite,
  ipvsSite,
  service,
  WholeIpvs,
} from './testing/whole-ipvs.ts';

const KEPT = { transport: 'TCP', address: '10.96.0.10', port: 80, timeoutMs: 20_000 } as const;
const GONE = { ...KEPT, address: '10.96.0.11' } as const;
const { signal } = new AbortController();

describe('mode ipvs after kube-proxy in ipvs mode', { skip: WITHOUT_IPVS }, () => {
  let site: IpvsSite;

  before(async () => {
    site = await ipvsSite();
    run(['sysctl', '-qw', 'net.ipv4.vs.conntrack=1']);
  });

  afterEach(async () => {
    await IPVS_PART.open({}).remove();
    await NFTABLES.open({}).plane.remove();
  });

  after(() => site.leave());

  /** Two Services, as kube-proxy writes them. */
  function serveAsKubeProxy(): void {
    ip('link add kube-ipvs0 type dummy', 'link set kube-ipvs0 up');
    // One of its rules: conntrack follows connections only while a rule asks for their state.
    const rule = ['FORWARD', '-m', 'conntrack', '--ctstate', 'RELATED,ESTABLISHED', '-j', 'ACCEPT'];
    run(['iptables', '-A', ...rule]);
    const lines = [KEPT, GONE].flatMap(({ address }) => {
      ip(`addr add ${address}/32 dev kube-ipvs0`);
      const destinations = site.endpoints.map(
        ({ ipv4 }) => `-a -t ${address}:80 -r ${ipv4}:${SERVED_PORT} -m -w 1`,
      );
      return [`-A -t ${address}:80 -s rr`, ...destinations];
    });
    run(['ipvsadm', '-R'], `${lines.join('\n')}\n`);
  }

  test('loses no connection, adopts what it serves and drains the rest', async () => {
    serveAsKubeProxy();
    const held = [await site.client.hold(KEPT), await site.client.hold(GONE)] as const;
    const [kept, gone] = [await held[0].speak(), await held[1].speak()];
    const during = site.client.ask({ ...KEPT, count: 60 });
    await using mode = new WholeIpvs();
    // The second Service is gone meanwhile.
    await mode.start([service('web', [clusterIp(KEPT.address)], { hosts: [...site.endpoints] })]);
    const adopt = mode.opened.adoptServers?.bind(mode.opened);
    assert.ok(adopt);
    await takeOverIpvs({ ipvs: new KernelIpvs(), clock: systemClock, adopt }, signal);
    assert.equal(await findLink('kube-ipvs0'), undefined);
    assertAllServed(await during);
    assert.equal((await held[0].speak()).by, kept.by);
    assert.equal((await held[1].speak()).by, gone.by);
    assertAllServed(await site.client.ask({ ...KEPT, count: 6 }));
    await until('only the destination with a connection is left', () => {
      const lines = ipvsadmLines().filter((line) => line.includes(`-a -t ${GONE.address}:80`));
      return lines.length === 1 && lines[0]?.endsWith('-w 0') === true;
    });
    assert.equal((await held[1].speak()).by, gone.by);
    const ours = ipvsadmLines().filter((line) => line.includes(`${KEPT.address}:80`));
    assert.equal(ours.length, 4);
  });
});
