import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { parseCidr } from '../../../addresses/cidr.ts';
import type { Level } from '../../../doctor/basic-finding.ts';
import { among, globalServers } from '../dns/leaks.ts';
import { judgeService, NOT_RUNNING, PROOF, provingService, whyNotServing } from './agent-ready.ts';
import { judgeRights, judgeToken } from './api-server.ts';
import { judgeDns, judgeNames } from './check-names.ts';
import { type CheckedFinding, checkView, verdictOf } from './check-view.ts';
import { judgeClusterIps } from './cluster-ips.ts';
import { isForwarding, judgeForwarding, judgeReversePath } from './kernel-settings.ts';
import type { ListedEndpoint } from './listed.ts';
import type { KnownNetwork } from './machine-view.ts';
import { judgePodRanges, judgeServiceRanges } from './overlap.ts';
import { judgePods, type ProbedPod, sampleOf } from './pod-routes.ts';
import { judgePorts, judgeProxies } from './ports.ts';

function cidr(text: string) {
  const parsed = parseCidr(text);
  assert.ok(parsed);
  return parsed;
}

function network(to: string, more: Partial<KnownNetwork> = {}): KnownNetwork {
  const text = `${to} dev docker0`;
  return { to: cidr(to), text, link: 'docker0', kind: 'bridge', isConnected: true, ...more };
}

function endpoint(address: string, more: Partial<ListedEndpoint> = {}): ListedEndpoint {
  return { service: 'default/web', address, tcpPort: 80, node: 'node1', ...more };
}

const NOTHING = { networks: [], addresses: [], uplinks: [] };

describe('overlap of Service ranges', () => {
  const ranges = ['10.96.0.0/12', 'fd00:96::/108'];

  it('is none with networks elsewhere', () => {
    const machine = { ...NOTHING, networks: [network('172.17.0.0/16')] };
    assert.equal(judgeServiceRanges(ranges, machine).level, 'ok');
  });

  it('is a problem with a connected network, in either direction', () => {
    for (const to of ['10.99.0.0/24', '10.0.0.0/8', 'fd00:96::/64']) {
      const found = judgeServiceRanges(ranges, { ...NOTHING, networks: [network(to)] });
      assert.equal(found.level, 'problem', to);
      assert.ok(found.what.includes(`${to} dev docker0`), found.what);
    }
  });

  it('is a problem with an own address', () => {
    const addresses = [{ address: cidr('10.96.0.1/32'), link: 'eth0' }];
    const found = judgeServiceRanges(ranges, { ...NOTHING, addresses });
    assert.equal(found.level, 'problem');
    assert.match(found.what, /10\.96\.0\.1\/32, an address of eth0/);
  });

  it('is a warning with a route by a gateway, as of a VPN', () => {
    const vpn = network('10.0.0.0/8', { isConnected: false, link: 'tun0' });
    assert.equal(judgeServiceRanges(ranges, { ...NOTHING, networks: [vpn] }).level, 'note');
  });

  it('is not known without ranges', () => {
    assert.equal(judgeServiceRanges([], NOTHING).level, 'note');
  });
});

describe('ClusterIPs', () => {
  const recorded = (serviceRanges: readonly string[], allClusterIPs = false) => ({
    serviceRanges,
    servedAddresses: { allClusterIPs, externalIPs: false, loadBalancerIPs: false },
  });
  const ranges = ['10.96.0.0/12', 'fd00:96::/108'];
  const services = [{ key: 'default/web', clusterIPs: ['10.96.0.5', 'fd00:96::5'], tcpPorts: [] }];
  const cluster = { services, declaredRanges: ['10.96.0.0/12'] };

  it('are good in the recorded ranges, which are named', () => {
    const { level, what } = judgeClusterIps(recorded(ranges), cluster);
    assert.equal(level, 'ok');
    assert.equal(what, '10.96.0.0/12, fd00:96::/108 are recorded and have those of 1 Service');
  });

  it('are a problem if no range is recorded, whatever the cluster names', () => {
    const { level, what, next } = judgeClusterIps(recorded([]), cluster);
    assert.equal(level, 'problem');
    assert.match(what, /^no Service range is recorded.*; the cluster names 10\.96\.0\.0\/12$/);
    assert.match(next ?? '', /init --apply/);
  });

  it('are a warning outside of the recorded ranges', () => {
    const thief = { key: 'a/thief', clusterIPs: ['8.8.8.8'], tcpPorts: [] };
    const more = { services: [...services, thief], declaredRanges: ['8.8.8.0/24', '10.0.0.0/8'] };
    const { level, what } = judgeClusterIps(recorded(ranges), more);
    assert.equal(level, 'note');
    const found = '8.8.8.8 of a/thief, ServiceCIDR 8.8.8.0/24, ServiceCIDR 10.0.0.0/8';
    assert.ok(what.endsWith(`10.96.0.0/12, fd00:96::/108: ${found}`), what);
  });

  it('are good at every address where the configuration says so', () => {
    assert.equal(judgeClusterIps(recorded([], true), cluster).level, 'ok');
  });
});

describe('overlap of pods', () => {
  it('is a problem if a network of this machine alone has an endpoint', () => {
    const machine = { ...NOTHING, networks: [network('172.17.0.0/16')] };
    const found = judgePodRanges([], [endpoint('172.17.0.5')], machine);
    assert.equal(found.level, 'problem');
    assert.match(found.what, /172\.17\.0\.5 of default\/web .* 172\.17\.0\.0\/16 dev docker0/);
  });

  it('is none if the network has a gateway, as a LAN on a bridge', () => {
    const machine = { ...NOTHING, networks: [network('172.17.0.0/16')], uplinks: ['docker0'] };
    assert.equal(judgePodRanges([], [endpoint('172.17.0.5')], machine).level, 'ok');
  });

  it('is none if a more specific route leads to the pods', () => {
    const route = network('172.17.0.0/24', { isConnected: false, link: 'eth0', kind: '' });
    const machine = { ...NOTHING, networks: [network('172.17.0.0/16'), route] };
    assert.equal(judgePodRanges([], [endpoint('172.17.0.5')], machine).level, 'ok');
  });

  it('is a warning if a connected network is in the configured range', () => {
    const machine = { ...NOTHING, networks: [network('10.200.0.0/16')] };
    assert.equal(judgePodRanges(['10.128.0.0/9'], [], machine).level, 'note');
  });
});

describe('routes to pods', () => {
  const pod = (more: Partial<ProbedPod> = {}): ProbedPod => {
    const path = 'gateway';
    return { endpoint: endpoint('10.1.2.3'), path, link: 'eth0', connected: 'connected', ...more };
  };

  it('are sampled: one of each node and network, at most twenty', () => {
    const many = Array.from({ length: 300 }, (_, i) => endpoint(`10.1.${i % 100}.${i}`));
    assert.equal(sampleOf(many).length, 20);
    const same = [endpoint('10.1.2.3', { tcpPort: undefined }), endpoint('10.1.2.4')];
    assert.deepEqual(
      sampleOf(same).map(({ address }) => address),
      ['10.1.2.4'],
    );
  });

  it('are good when pods answer, also by the default route', () => {
    const found = judgePods([pod(), pod({ path: 'default route' })]);
    assert.deepEqual(found, {
      level: 'ok',
      what: '1 by a gateway, 1 by the default route; 2 connected',
    });
  });

  it('are a problem when there is none, or no answer', () => {
    const none = judgePods([pod(), pod({ path: 'no route', connected: undefined })]);
    assert.equal(none.level, 'problem');
    assert.equal(none.what, 'no route to 10.1.2.3:80 (default/web)');
    const silent = judgePods([pod({ connected: 'no answer' })]);
    assert.equal(silent.what, 'no answer within 2 s from 10.1.2.3:80 (default/web)');
    assert.match(silent.next ?? '', /firewall/);
  });

  it('are a warning when refused, or when only the default route leads there untried', () => {
    assert.equal(judgePods([pod({ connected: 'refused' })]).level, 'note');
    const path = 'default route';
    assert.equal(judgePods([pod({ path, connected: undefined })]).level, 'note');
  });

  it('are not checked without endpoints', () => {
    assert.equal(judgePods([]).level, 'unasked');
  });
});

describe('kernel settings', () => {
  it('warn of strict reverse path filters where answers may come by another interface', () => {
    const of = { podLinks: ['eth1'], uplinks: ['eth0', 'eth1'], strict: ['eth0', 'eth1'] };
    const found = judgeReversePath(of);
    assert.equal(found.level, 'note');
    assert.match(found.next ?? '', /net\.ipv4\.conf\.eth0\.rp_filter=2/);
    assert.equal(judgeReversePath({ ...of, uplinks: ['eth1'] }).level, 'ok');
    assert.equal(judgeReversePath({ ...of, strict: [] }).level, 'ok');
  });

  it('warn of a gateway only where everybody is served and forwarding is on', () => {
    assert.equal(judgeForwarding({ clients: 'everybody' }, true).level, 'note');
    assert.equal(judgeForwarding({ clients: 'everybody' }, false).level, 'ok');
    assert.equal(judgeForwarding({ clients: ['docker0'] }, true).level, 'ok');
  });

  it('is on if any interface forwards packets of either family', () => {
    const isOn = (...on: readonly string[]) =>
      isForwarding(['all', 'eth0'], (name) => (on.includes(name) ? '1' : '0'));
    assert.equal(isOn(), false);
    assert.equal(isOn('net/ipv4/conf/all/forwarding'), true);
    assert.equal(isOn('net/ipv6/conf/all/forwarding'), true);
    assert.equal(isOn('net/ipv4/conf/eth0/forwarding'), true);
  });
});

describe('ports and proxies', () => {
  it('are good when free or held by Fairlead', () => {
    const free = { ip: '127.0.0.1', port: 10_249, holder: undefined };
    const own = { ip: '::1', port: 10_256, holder: { program: 'fairlead', pid: 3 } };
    const found = judgePorts([free, own]);
    assert.equal(found.level, 'ok');
    assert.equal(found.what, '127.0.0.1:10249 free, [::1]:10256 held by Fairlead');
  });

  it('are a problem when another process has them', () => {
    const holder = { program: 'nginx', pid: 7 };
    const found = judgePorts([{ ip: '0.0.0.0', port: 10_256, holder }]);
    assert.equal(found.level, 'problem');
    assert.equal(found.what, '0.0.0.0:10256 is held by nginx (pid 7)');
  });

  it('warn of another proxy', () => {
    assert.equal(judgeProxies([]).level, 'ok');
    assert.equal(judgeProxies(['the table ip kube-proxy']).level, 'note');
  });
});

describe('the account', () => {
  const DAY_MS = 86_400_000;
  const tokenUntil = (expiresAtMs: number, lifeMs = 30 * DAY_MS): string => {
    const exp = expiresAtMs / 1000;
    const claims = { sub: 'system:serviceaccount:a:b', iat: exp - lifeMs / 1000, exp };
    return `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;
  };

  it('has a token that says when it ends', () => {
    const nowMs = 100 * DAY_MS;
    const at = { nowMs, isRenewed: false };
    assert.equal(judgeToken(tokenUntil(nowMs + 30 * DAY_MS), at).level, 'ok');
    assert.equal(judgeToken(tokenUntil(nowMs + DAY_MS), at).level, 'note');
    assert.match(judgeToken(tokenUntil(nowMs - DAY_MS), at).what, /24 hours ago/);
    assert.equal(judgeToken('opaque', at).level, 'unasked');
    assert.equal(judgeToken(undefined, at).level, 'unasked');
  });

  it('has a token that the machine renews: a warning only when that is late', () => {
    const nowMs = 100 * DAY_MS;
    const at = { nowMs, isRenewed: true };
    const young = judgeToken(tokenUntil(nowMs + 29 * DAY_MS), at);
    assert.equal(young.level, 'ok');
    assert.match(young.what, /this machine renews it$/);
    assert.equal(judgeToken(tokenUntil(nowMs + DAY_MS / 3, DAY_MS / 2), at).level, 'ok');
    const late = judgeToken(tokenUntil(nowMs + 10 * DAY_MS), at);
    assert.equal(late.level, 'note');
    assert.doesNotMatch(late.next ?? '', /init --apply/);
  });

  it('must list the scope, and should not read secrets', () => {
    const of = { services: [], endpoints: [], forbidden: [], everything: false, secrets: false };
    assert.equal(judgeRights(of).level, 'ok');
    assert.equal(judgeRights({ ...of, secrets: true }).level, 'note');
    assert.match(judgeRights({ ...of, everything: true, secrets: true }).what, /everything/);
    const found = judgeRights({ ...of, forbidden: ['services of namespace shop'] });
    assert.equal(found.level, 'problem');
    assert.match(found.what, /services of namespace shop/);
  });
});

describe('names', () => {
  const name = 'kubernetes.default.svc.cluster.local';
  const expected = ['10.96.0.1'];
  const tried = (transport: 'UDP' | 'TCP', addresses?: readonly string[], error?: string) => ({
    server: '10.96.0.10',
    transport,
    answer: addresses === undefined ? undefined : { addresses, error },
  });

  it('are good when the DNS of the cluster answers by both transports', () => {
    const tries = [tried('UDP', expected), tried('TCP', expected)];
    assert.equal(judgeDns({ name, tries, expected }).level, 'ok');
    assert.equal(judgeDns({ name, tries, expected: undefined }).level, 'ok');
  });

  it('are a problem when it is silent, does not know the domain, or is that of another cluster', () => {
    const silent = judgeDns({ name, tries: [tried('UDP', expected), tried('TCP')], expected });
    assert.equal(silent.what, 'no answer of 10.96.0.10 by TCP');
    const unknown = judgeDns({ name, tries: [tried('UDP', [], 'NXDOMAIN')], expected });
    assert.match(unknown.next ?? '', /clusterDomain/);
    const other = judgeDns({ name, tries: [tried('UDP', ['10.43.0.1'])], expected });
    assert.equal(other.what, `${name} is 10.43.0.1, not 10.96.0.1`);
    for (const each of [silent, unknown, other]) assert.equal(each.level, 'problem');
  });

  it('of the resolver are a warning when they do not resolve', () => {
    assert.equal(judgeNames({ name, addresses: [], expected }).level, 'note');
    assert.equal(judgeNames({ name, addresses: expected, expected }).level, 'ok');
    assert.equal(judgeNames({ name, addresses: ['192.0.2.1'], expected }).level, 'problem');
  });

  it('are all sent to the cluster by a global server of resolved.conf', () => {
    const servers = ['10.96.0.10', 'fd00::a'];
    const has = (line: string) => among(globalServers(`[Resolve]\n${line}\n`), servers).length > 0;
    assert.ok(has('DNS=10.96.0.10'));
    assert.ok(has('DNS=1.1.1.1 10.96.0.10:53%eth0#name'));
    assert.ok(has('DNS=[fd00::a]:53'));
    assert.ok(has('DNS = fd00:0::a'));
    assert.ok(!has('#DNS=10.96.0.10'));
    assert.ok(!has('FallbackDNS=10.96.0.10'));
    assert.ok(!has('DNS=10.96.0.100'));
  });
});

describe('the proof', () => {
  const services = [
    { key: 'default/none', clusterIPs: ['10.96.0.9'], tcpPorts: [80] },
    { key: 'default/web', clusterIPs: ['10.96.0.5'], tcpPorts: [80] },
    { key: 'default/kubernetes', clusterIPs: ['10.96.0.1'], tcpPorts: [443] },
  ];

  it('is a connection to the API server, else to a Service with an endpoint of its family', () => {
    const own = endpoint('172.30.0.1', { service: 'default/kubernetes' });
    const target = provingService({ services, endpoints: [endpoint('10.1.2.3'), own] });
    assert.deepEqual(target, { service: 'default/kubernetes', address: '10.96.0.1', port: 443 });
    assert.equal(provingService({ services, endpoints: [endpoint('10.1.2.3')] })?.port, 80);
    assert.equal(provingService({ services, endpoints: [endpoint('fd00::1')] }), undefined);
  });

  it('names what came of it', () => {
    const target = { service: 'default/web', address: '10.96.0.5', port: 80 };
    assert.equal(judgeService(target, 'connected').level, 'ok');
    assert.match(judgeService(target, 'no route').next ?? '', /serviceRoutes/);
  });
});

describe('a machine whose agent is not ready', () => {
  const page = (isTrue: boolean) =>
    ({ conditions: { firstSync: { isTrue } } }) as Parameters<typeof whyNotServing>[0];

  it('proves nothing by a connection', () => {
    assert.equal(whyNotServing(undefined), NOT_RUNNING);
    assert.equal(whyNotServing(page(false)), 'Fairlead is not ready');
    assert.equal(whyNotServing(page(true)), undefined);
  });
});

describe('the report', () => {
  const checked = (levels: readonly Level[]): CheckedFinding[] =>
    levels.map((level, index) => ({
      check: `check ${index}`,
      level,
      what: 'found something that takes quite a few words to say, more than fit on one line',
      ...(level === 'ok' || level === 'unasked'
        ? {}
        : { next: `repair ${index} ${'and '.repeat(30)}` }),
    }));

  it('begins with the answer', () => {
    const answer = (...levels: Level[]) => verdictOf(checked(levels)).answer;
    const reached = "this machine can reach the cluster's Services";
    assert.equal(answer('ok', 'unasked'), reached);
    assert.equal(answer('ok', 'note'), `${reached}; 1 warning`);
    const unknown = 'Services of the cluster could not be tried';
    assert.equal(answer('problem', 'note', 'problem'), `${unknown}; 2 problems, 1 warning`);
  });

  it('says whether a Service was reached in spite of a problem, and whether Fairlead runs', () => {
    const answer = (check: string, level: Level, what: string) =>
      verdictOf([...checked(['problem']), { check, level, what }]).answer;
    const some = "this machine cannot reach all of the cluster's Services";
    assert.equal(answer(PROOF, 'ok', 'connected'), `${some}; 1 problem`);
    const none = "this machine cannot reach the cluster's Services";
    assert.equal(answer(PROOF, 'problem', 'no answer'), `${none}; 2 problems`);
    assert.equal(answer('agent', 'problem', 'not ready'), `${none}; 2 problems`);
    assert.equal(answer(PROOF, 'unasked', NOT_RUNNING), `${NOT_RUNNING}; 1 problem`);
    const idle = verdictOf([{ check: 'agent', level: 'unasked', what: NOT_RUNNING }]);
    assert.equal(idle.answer, `${NOT_RUNNING}; nothing else stands in the way`);
  });

  it('fits 80 columns, and has advice for problems before that for warnings', () => {
    const all = checked(['ok', 'note', 'problem']);
    const lines = stripVTControlCharacters(checkView(all, 80)).split('\n');
    for (const line of lines) assert.ok(line.length <= 80, line);
    assert.ok(lines.indexOf('check 2:') < lines.indexOf('check 1:'));
    assert.ok(lines.indexOf('check 2:') > 0);
  });
});
