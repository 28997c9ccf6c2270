import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ip, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { plantReversePath } from './reverse-path.ts';
import { type Explained, type Scene, startScene } from './scene.ts';
import { clusterIp, NOWHERE, type ShopFamily } from './shop.ts';

const PAGE = new URL('../../../docs/explain.md', import.meta.url);
const PROGRAM = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const EXAMPLE = /^```console\n\$ fairlead explain (.+)\n([\s\S]*?)\n```$/m;
const PREFIX = { ipv4: 32, ipv6: 128 } as const;

describe('explain names what the kernel drops', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables');
    for (const family of ['ipv4', 'ipv6'] as const) {
      ip(`route add unreachable ${NOWHERE[family]}/${PREFIX[family]}`);
    }
  });
  after(() => scene.stop());

  const from = (host: PlacedHost) => ['--from', `pid:${host.pid}`] as const;
  const web = clusterIp('web', 'ipv4');

  function assertDropped({ code, explanation }: Explained, wanted: string, reason: string): void {
    const { proof } = explanation;
    const seen = JSON.stringify({ ...explanation, elsewhere: [], candidates: [] }, undefined, 1);
    assert.equal(explanation.code, wanted, seen);
    assert.equal(proof?.drop?.reason, reason, seen);
    assert.equal(proof.agrees, false);
    assert.equal(code, 4);
  }

  it('rp_filter', async (t) => {
    const { outside } = scene;
    plantReversePath(t, outside, web);
    const told = await scene.explain(t, `${web}:80`, ...from(outside));
    assertDropped(told, 'DROPPED_REVERSE_PATH', 'IP_RPFILTER');
    assert.match(told.explanation.sentence, /reverse path filter of eth0, rp_filter is 1/);
  });

  it('a node that does not forward', async (t) => {
    run(['sysctl', '-qw', 'net.ipv4.ip_forward=0']);
    t.after(() => run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']));
    const told = await scene.explain(t, `${web}:80`, ...from(scene.client));
    assertDropped(told, 'NOT_FORWARDED', 'IP_INADDRERRORS');
    assert.deepEqual(told.explanation.next.slice(0, 1), ['set net.ipv4.ip_forward to 1']);
  });

  it('a policy of iptables-legacy, which no trace tells of', async (t) => {
    run(['iptables-legacy', '-P', 'FORWARD', 'DROP']);
    t.after(() => run(['iptables-legacy', '-P', 'FORWARD', 'ACCEPT']));
    const told = await scene.explain(t, `${web}:80`, ...from(scene.client));
    assertDropped(told, 'DROPPED_BY_RULE', 'NETFILTER_DROP');
  });

  for (const family of ['ipv4', 'ipv6'] as const) {
    it(`no socket at the endpoint, ${family}`, async (t) => {
      for (const who of [from(scene.client), ['--from', 'host']]) {
        const told = await scene.explain(t, at('deaf', family), ...who);
        assertDropped(told, 'ENDPOINT_REFUSES', 'NO_SOCKET');
        assert.match(told.explanation.sentence, /nothing listens at .*9999/);
        assert.equal(told.explanation.proof?.drop?.isHere, false);
      }
    });

    it(`no machine at the address of the endpoint, ${family}`, async (t) => {
      const told = await scene.explain(t, at('nobody', family), ...from(scene.client));
      const reason = family === 'ipv4' ? 'NEIGH_FAILED' : 'NOT_SPECIFIED';
      assertDropped(told, 'NO_NEIGHBOUR', reason);
    });

    it(`no route to the endpoint, ${family}`, async (t) => {
      const told = await scene.explain(t, at('nowhere', family), ...from(scene.client));
      assert.equal(told.explanation.code, 'NO_ROUTE', JSON.stringify(told.explanation.proof));
    });

    it(`no complaint where all is well, ${family}`, async (t) => {
      for (const host of [scene.client, scene.outside]) {
        const { code, explanation } = await scene.explain(t, at('web', family), ...from(host));
        assert.equal(explanation.code, 'REACHES');
        assert.equal(explanation.proof?.drop, null);
        assert.equal(explanation.proof.dropsUnread, undefined);
        assert.equal(code, 0);
      }
    });
  }

  it('shows in docs/explain.md what it prints', async (t) => {
    run(['sysctl', '-qw', 'net.ipv4.ip_forward=0']);
    t.after(() => run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']));
    const [, args = '', shown = ''] = EXAMPLE.exec(await readFile(PAGE, 'utf8')) ?? [];
    const out = await scene.explainText(t, ...args.split(' '));
    const told = withoutNumbers(out);
    const facts = shown.split(/\n(?: {2}(?=\S)|\n)/).map(withoutNumbers);
    assert.equal(facts.length, 3);
    for (const fact of facts) assert.ok(told.includes(fact), out);
  });

  it('says which capabilities it lacks for it, and proves the rest', () => {
    const limits = ['--bounding-set=-all,+net_admin,+net_raw', '--inh-caps=-all'];
    const asked = ['explain', at('deaf', 'ipv4'), '--from', 'host', '--run-folder'];
    const argv = ['setpriv', ...limits, process.execPath, PROGRAM, ...asked, scene.runFolder];
    // Its exit code is 4.
    const out = run(['sh', '-c', '"$@"; true', 'sh', ...argv]);
    const told = out.replaceAll(/\s+/g, ' ');
    assert.match(told, /^ENDPOINT_REFUSES the packet of this node to .* which refused it/);
    assert.match(told, /drops not read: this process lacks CAP_BPF .* and CAP_PERFMON/);
  });

  it('keeps the drop of another client out of the answer', async (t) => {
    const asked = { transport: 'TCP', port: 80, timeoutMs: 200, count: 20 } as const;
    const others = scene.outside.ask({ ...asked, address: clusterIp('deaf', 'ipv4') });
    const { explanation } = await scene.explain(t, `${web}:80`, ...from(scene.client));
    await others;
    assert.equal(explanation.code, 'REACHES');
    assert.equal(explanation.proof?.drop, null);
  });
});

function at(service: Parameters<typeof clusterIp>[0], family: ShopFamily): string {
  const address = clusterIp(service, family);
  return `${family === 'ipv4' ? address : `[${address}]`}:80`;
}

/** Ports and the drawn endpoint differ from run to run, and with them line ends. */
function withoutNumbers(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/10\.244\.[23]\.10/g, 'ENDPOINT')
    .replaceAll(/(10\.244\.1\.10):\d+/g, '$1:PORT');
}
