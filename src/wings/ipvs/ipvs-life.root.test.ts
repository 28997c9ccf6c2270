import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Forwarding } from '../../forwarding/model.ts';
import { ipvsadmLines, WITHOUT_IPVS } from '../../linux/ipvs/testing/load-ipvs.ts';
import { ip, run } from '../../linux/netlink/testing/own-namespace.ts';
import type { Host } from '../../linux/testing/hosts/host.ts';
import type { Answer } from '../../linux/testing/hosts/host-messages.ts';
import { NFTABLES } from '../../modes/nftables.ts';
import { until } from '../../time/testing/until.ts';
import { IPVS } from './ipvs-mode.ts';
import { IPVS_PART, prepareIpvs } from './ipvs-part.ts';
import {
  assertAllServed,
  clusterIp,
  type IpvsSite,
  ipvsSite,
  NODE,
  nodePort,
  service,
  WholeIpvs,
} from './testing/whole-ipvs.ts';

const VIRTUAL = '10.96.0.10';
const TO_WEB = { transport: 'TCP', address: VIRTUAL, port: 80, timeoutMs: 20_000 } as const;
const TO_NAMES = { ...TO_WEB, transport: 'UDP' } as const;
const TO_NODE_PORT = { ...TO_WEB, address: NODE, port: 30080 } as const;

describe('mode ipvs', { skip: WITHOUT_IPVS }, () => {
  let site: IpvsSite;

  before(async () => {
    site = await ipvsSite();
  });

  afterEach(async () => {
    await IPVS_PART.open({}).remove();
    await NFTABLES.open({}).plane.remove();
  });

  after(() => site.leave());

  const web = (hosts: IpvsSite['endpoints'][number][] = [...site.endpoints]): Forwarding =>
    service('web', [clusterIp(VIRTUAL), nodePort(30080)], { hosts });

  const names = (hosts: IpvsSite['endpoints'][number][] = [...site.endpoints]): Forwarding =>
    service('names', [clusterIp(VIRTUAL)], { hosts, protocol: 'UDP' });

  test('forwards connections of pods, of the outside and of the node by IPVS', async () => {
    await using mode = new WholeIpvs();
    await mode.start([web(), names()]);
    assert.deepEqual(mode.warnings, []);
    assertAllServed(await site.client.ask({ ...TO_WEB, count: 6 }));
    assertAllServed(await site.client.ask({ ...TO_NAMES, count: 6 }));
    assertAllServed(await site.outside.ask({ ...TO_WEB, count: 6 }));
    assertAllServed(await site.outside.ask({ ...TO_NODE_PORT, count: 6 }));
    // The kernel adds its counts up every two seconds.
    await until('all connections are counted', async () => (await connections(mode)) === 24);
    const report = await mode.report();
    assert.equal(report?.virtualServers, 3);
    assert.equal(report?.destinations, 9);
    assert.deepEqual(report?.schedulers, [{ name: 'rr', virtualServers: 3 }]);
  });

  test('keeps a stream to an endpoint that was removed, and gives it no new connection', async () => {
    await using mode = new WholeIpvs();
    await mode.start([web()]);
    const held = await site.client.hold(TO_WEB);
    const { by } = await held.speak();
    const others = site.endpoints.filter(({ name }) => name !== by);
    await mode.change([web(others)]);
    const answers = await site.client.ask({ ...TO_WEB, count: 12 });
    assertAllServed(answers);
    assert.ok(answers.every((answer) => answer.by !== by));
    await delay(2500);
    assert.equal((await held.speak()).by, by);
    // At the node port it had no connection: there it is deleted.
    const [gone] = site.endpoints.filter(({ name }) => name === by);
    await until('the destination without connections is deleted', () => {
      const lines = ipvsadmLines().filter((line) => line.includes(` ${gone?.ipv4}:8080`));
      return lines.length === 1 && lines[0]?.includes('-w 0') === true;
    });
    assert.equal((await mode.report())?.drainingDestinations, 1);
    await mode.change([web()]);
    assert.equal((await mode.report())?.drainingDestinations, 0);
    assert.equal((await held.speak()).by, by);
  });

  test('rejects connections by nftables when the last endpoint is gone', async () => {
    await using mode = new WholeIpvs();
    await mode.start([web()]);
    const held = await site.client.hold(TO_WEB);
    const { by } = await held.speak();
    await mode.change([rejecting(web([]))]);
    const [answer] = await site.client.ask(TO_WEB);
    assert.equal(answer?.by, 'ECONNREFUSED');
    assert.equal((await held.speak()).by, by);
    await mode.change([web()]);
    assertAllServed(await site.client.ask({ ...TO_WEB, count: 3 }));
  });

  test('rejects connections of every source while those of the last endpoint go on', async (t) => {
    await using mode = new WholeIpvs();
    await mode.start([web()]);
    const held = [await site.client.hold(TO_WEB), await site.outside.hold(TO_NODE_PORT)];
    const by = [];
    for (const each of held) by.push((await each.speak()).by);
    await mode.change([rejecting(web([]))]);
    const asked = [
      ...(await site.client.ask(TO_WEB)),
      ...(await site.outside.ask(TO_WEB)),
      ...(await site.outside.ask(TO_NODE_PORT)),
    ];
    const codes = asked.map((each) => each.by);
    // In the output hook IPVS is before the rules that reject, and does so itself: it has no destination.
    for (const { address, port } of [TO_WEB, TO_NODE_PORT])
      codes.push(await rejection(address, port));
    assert.deepEqual(codes, Array(5).fill('ECONNREFUSED'));
    for (const [index, each] of held.entries()) assert.equal((await each.speak()).by, by[index]);
    const logged = run(['dmesg']).match(/IPVS: .*no destination available/g) ?? [];
    t.diagnostic(`the kernel has logged: ${[...new Set(logged)].join('; ') || 'nothing'}`);
  });

  test('adopts everything after a restart without a write', async () => {
    const held = await (async () => {
      await using mode = new WholeIpvs();
      await mode.start([web(), names()]);
      return await site.client.hold(TO_WEB);
    })();
    const { by } = await held.speak();
    const before = [...ipvsadmLines(), run(['nft', 'list', 'ruleset'])];
    await using again = new WholeIpvs();
    const found = await again.start([web(), names()]);
    assert.deepEqual(found.differences, []);
    assert.equal(found.writeCount, 0);
    assert.equal(found.right.size, 2);
    assert.deepEqual([...ipvsadmLines(), run(['nft', 'list', 'ruleset'])], before);
    assert.equal((await held.speak()).by, by);
  });

  for (const [from, to] of [
    [0x4000, 0x1000],
    [0x1000, 0x4000],
  ] as const) {
    const bits = `from ${from.toString(16)} to ${to.toString(16)}`;
    test(`keeps connections when a restart changes the masquerade mark ${bits}`, async () => {
      const held: { readonly connection: Awaited<ReturnType<Host['hold']>>; by: string }[] = [];
      {
        await using mode = new WholeIpvs(IPVS, { masqueradeMark: from });
        await mode.start([web()]);
        for (const [host, at] of [
          [site.client, TO_WEB],
          [site.outside, TO_NODE_PORT],
        ] as const) {
          const connection = await host.hold(at);
          held.push({ connection, by: (await connection.speak()).by });
        }
      }
      await using again = new WholeIpvs(IPVS, { masqueradeMark: to });
      await again.start([web()]);
      for (const { connection, by } of held) assert.equal((await connection.speak()).by, by);
      assertAllServed(await site.client.ask({ ...TO_WEB, count: 3 }));
      assert.deepEqual(again.warnings, []);
    });
  }

  test('leaves a row to nftables whose endpoint IPVS rejects, and others as they are', async () => {
    await using mode = new WholeIpvs();
    await mode.start([web(), names()]);
    // The kernel takes no destination that is the broadcast address of an interface.
    ip('addr add 192.0.3.1/24 dev lo');
    const odd = web();
    const broadcast = { address: '192.0.3.255', port: 8080, local: false };
    const clusterEndpoints = [...odd.clusterEndpoints, broadcast];
    await mode.change([{ ...odd, clusterEndpoints }, names()]);
    assert.equal(mode.warnings.length, 1, mode.warnings.join());
    assert.match(mode.warnings[0] ?? '', /192\.0\.3\.255.*EINVAL/);
    const answers = await site.client.ask({ ...TO_WEB, count: 12, timeoutMs: 2000 });
    assert.ok(
      answers.some(({ by }) => /^e\d$/.test(by)),
      'no endpoint serves the row',
    );
    assert.match(run(['nft', 'list', 'set', 'ip', 'fairlead-ipvs', 'refused']), /10\.96\.0\.10/);
    assertAllServed(await site.client.ask({ ...TO_NAMES, count: 3 }));
    await mode.change([web(), names()]);
    assertAllServed(await site.client.ask({ ...TO_WEB, count: 6 }));
    assert.doesNotMatch(run(['nft', 'list', 'set', 'ip', 'fairlead-ipvs', 'refused']), /10\./);
    ip('addr del 192.0.3.1/24 dev lo');
    // A client that gets the port of a connection without an answer again would go there as well.
    run(['conntrack', '-F']);
  });

  test("leaves a row to nftables at the address of another process's virtual server", async () => {
    run(['ipvsadm', '-A', '-t', `${VIRTUAL}:80`, '-s', 'wlc']);
    run(['ipvsadm', '-a', '-t', `${VIRTUAL}:80`, '-r', '10.244.9.9:1', '-m', '-w', '5']);
    try {
      const before = ipvsadmLines();
      await using mode = new WholeIpvs();
      await mode.start([service('web', [clusterIp(VIRTUAL)], { hosts: site.endpoints })]);
      assert.deepEqual(ipvsadmLines(), before);
      assert.match(
        mode.warnings.join(),
        /virtual server 10\.96\.0\.10 TCP 80 is of another process/,
      );
      assertAllServed(await site.client.ask({ ...TO_WEB, count: 6 }));
      await mode.change([]);
      await IPVS_PART.open({}).remove();
      assert.deepEqual(ipvsadmLines(), before);
    } finally {
      run(['ipvsadm', '-C']);
    }
  });

  test('drains on after a restart', async () => {
    const away = site.endpoints[0];
    {
      await using mode = new WholeIpvs();
      await mode.start([web()]);
      run(['ipvsadm', '-e', '-t', `${VIRTUAL}:80`, '-r', `${away.ipv4}:8080`, '-m', '-w', '0']);
    }
    await using again = new WholeIpvs();
    const found = await again.start([web(site.endpoints.slice(1))]);
    assert.equal(found.right.size, 0);
    await until('the drained destinations are deleted', () =>
      ipvsadmLines().every((line) => !line.includes(away.ipv4)),
    );
  });

  test('repairs what another process deletes within seconds, and reports drift', async (t) => {
    await using mode = new WholeIpvs();
    await mode.start([web(), names()]);
    // The first fingerprint is taken within a second.
    await delay(1500);
    const wanted = ipvsadmLines();
    const startedAt = performance.now();
    run(['ipvsadm', '-C']);
    // Not by ipvsadm: to wait for a program stops the plane, which runs in this process.
    await until('the virtual servers are there again', async () => {
      const report = await mode.report();
      return report?.virtualServers === 3 && report.destinations === 9;
    });
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < 8000, `${tookMs} ms`);
    t.diagnostic(`repaired after ${Math.round(tookMs)} ms`);
    assert.deepEqual(ipvsadmLines(), wanted);
    assert.match(mode.drifts.map(({ what }) => what).join(), /changed by another process/);
    assertAllServed(await site.client.ask({ ...TO_WEB, count: 3 }));
    mode.drifts.length = 0;
    await delay(2500);
    assert.deepEqual(mode.drifts, []);
  });

  test('leaves virtual servers of others alone, and deletes foreign destinations of its own', async () => {
    run(['ipvsadm', '-A', '-t', '198.51.100.1:80', '-s', 'rr']);
    try {
      {
        await using mode = new WholeIpvs();
        await mode.start([web()]);
        run(['ipvsadm', '-a', '-t', `${VIRTUAL}:80`, '-r', '10.244.9.9:8080', '-m']);
        await mode.inspect();
        await until('the foreign destination is deleted', () =>
          ipvsadmLines().every((line) => !line.includes('10.244.9.9')),
        );
      }
      await IPVS_PART.open({}).remove();
      assert.deepEqual(ipvsadmLines(), ['-A -t 198.51.100.1:80 -s rr']);
    } finally {
      run(['ipvsadm', '-C']);
    }
  });

  test('moves UDP flows of a removed endpoint to another one', async () => {
    await using mode = new WholeIpvs();
    await mode.start([names()]);
    const held = await site.client.hold({ ...TO_NAMES, timeoutMs: 1000 });
    const { by } = await held.speak();
    await mode.change([names(site.endpoints.filter(({ name }) => name !== by))]);
    assert.equal((await held.speak()).by, by);
    const flows = IPVS.flows({}, () => undefined);
    const stale = [];
    const question = { protocols: new Set([17]), destinationPorts: new Set([80]) } as Parameters<
      typeof flows.flows
    >[0];
    for await (const some of flows.flows(question, AbortSignal.timeout(5000))) stale.push(...some);
    assert.equal((await flows.remove(stale)).length, stale.length);
    await until('another endpoint answers', async () => /^e\d$/.test((await held.speak()).by));
    assert.notEqual((await held.speak()).by, by);
    await delay(2500);
    assert.deepEqual(mode.drifts, []);
  });

  test('leaves UDP flows that IPVS had to the next proxy when it is removed', async () => {
    const held = await (async () => {
      await using mode = new WholeIpvs();
      await mode.start([names()]);
      const connection = await site.client.hold({ ...TO_NAMES, timeoutMs: 1000 });
      assertAllServed([await connection.speak()]);
      return connection;
    })();
    await using next = new WholeIpvs(NFTABLES);
    await next.start([names()]);
    await IPVS_PART.open({}).remove();
    assertAllServed([await held.speak()]);
  });

  test('switches nftables, ipvs, nftables under connections without a failure', async () => {
    const asked: Answer[] = [];
    const held: { readonly connection: Awaited<ReturnType<Host['hold']>>; by: string }[] = [];
    {
      await using first = new WholeIpvs(NFTABLES);
      await first.start([web()]);
    }
    for (const mode of [NFTABLES, IPVS, NFTABLES]) {
      const stop = keepAsking(site.client);
      await using whole = new WholeIpvs(mode);
      await whole.start([web()]);
      if (mode === NFTABLES) await IPVS_PART.open({}).retire?.();
      const connection = await site.client.hold(TO_WEB);
      held.push({ connection, by: (await connection.speak()).by });
      await delay(500);
      for (const each of held) assert.equal((await each.connection.speak()).by, each.by);
      asked.push(...(await stop()));
    }
    assertAllServed(asked);
    const before = clientsInIpvs();
    assert.ok(before.size > 0);
    assertAllServed(await site.client.ask({ ...TO_WEB, count: 6 }));
    assert.deepEqual([...clientsInIpvs().difference(before)], []);
    assert.equal(await IPVS_PART.open({}).retire?.(), 'draining');
  });

  test('prepares the settings of IPVS before the proxy runs', async () => {
    const set: string[] = [];
    const setSysctl = async ({ name, value }: { name: string; value: string }) =>
      void set.push(`${name} ${run(['cat', `/proc/sys/${name}`]).trim()} ${value}`);
    await prepareIpvs({ setSysctl });
    assert.equal(set.length, 4);
    assert.ok(set.includes('net/ipv4/vs/conntrack 1 1'), set.join());
  });

  test('leaves nothing after a removal', async () => {
    const rules = () => [run(['ip', 'rule']), run(['ip', '-6', 'rule'])].join();
    const before = rules();
    {
      await using mode = new WholeIpvs();
      await mode.start([web(), names()]);
      await site.client.ask({ ...TO_WEB, count: 3 });
    }
    const plane = IPVS_PART.open({});
    assert.ok((await plane.read('inventory'))?.some(({ what }) => what === 'virtual servers'));
    await plane.remove();
    await NFTABLES.open({}).plane.remove();
    assert.deepEqual(ipvsadmLines(), []);
    assert.doesNotMatch(run(['nft', 'list', 'tables']), /fairlead/);
    assert.equal(rules(), before);
    assert.deepEqual(await plane.read('inventory'), []);
    assert.match(run(['ipvsadm', '-l', '--timeout']), /900 120 300/);
  });
});

async function connections(mode: WholeIpvs): Promise<number> {
  const counts = (await mode.plane.read('counters')) ?? [];
  return counts.reduce((sum, each) => sum + each.connections, 0);
}

/** Why this node cannot connect. */
async function rejection(host: string, port: number): Promise<string> {
  const socket = connect({ host, port, timeout: 10_000 });
  try {
    return await new Promise((resolve) => {
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
      socket.once('timeout', () => resolve('TIMEOUT'));
      socket.once('connect', () => resolve('connected'));
    });
  } finally {
    socket.destroy();
  }
}

function rejecting(row: Forwarding): Forwarding {
  const reject = { action: 'reject' } as const;
  const outcomes = { pod: reject, host: reject, outside: reject };
  return { ...row, frontends: row.frontends.map((each) => ({ ...each, outcomes })) };
}

/** Address and port of each. Its counters would not do: the kernel sums them every two seconds. */
function clientsInIpvs(): Set<string> {
  const lines = run(['ipvsadm', '-Lnc']).split('\n').slice(2);
  return new Set(lines.filter((line) => line !== '').map((line) => line.split(/\s+/)[3] ?? ''));
}

/** Connects again and again until it is stopped; gives every answer. */
function keepAsking(host: Host): () => Promise<readonly Answer[]> {
  let isOver = false;
  const answers: Answer[] = [];
  const asking = (async () => {
    while (!isOver) answers.push(...(await host.ask(TO_WEB)));
  })();
  return async () => {
    isOver = true;
    await asking;
    return answers;
  };
}
