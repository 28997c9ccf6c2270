import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { type Explained, type Scene, startScene } from './scene.ts';
import { BALANCER, clusterIp, NODE, NODE_PORT, type ShopFamily, type ShopService } from './shop.ts';

const MODES = ['nftables'];
const PAGE = new URL('../../../docs/explain.md', import.meta.url);
const EXAMPLE = /^```text\n\$ fairlead explain (.+)\n([\s\S]*?)\n```$/gm;

for (const mode of MODES) {
  describe(`explain proves by a packet, ${mode}`, () => {
    let scene: Scene;
    before(async () => {
      scene = await startScene(mode);
    });
    after(() => scene.stop());

    const from = (host: PlacedHost) => ['--from', `pid:${host.pid}`] as const;
    const at = (service: ShopService, family: ShopFamily, suffix = '') => {
      const address = clusterIp(service, family);
      return `${family === 'ipv4' ? address : `[${address}]`}:80${suffix}`;
    };

    function assertProven({ code, explanation }: Explained, wanted: string, exit: number): void {
      const { proof, notProven } = explanation;
      const seen = JSON.stringify({ ...explanation, elsewhere: [], candidates: [] }, undefined, 1);
      assert.equal(explanation.code, wanted, seen);
      assert.equal(notProven, undefined);
      assert.equal(proof?.agrees, true, seen);
      assert.equal(code, exit);
    }

    for (const family of ['ipv4', 'ipv6'] as const) {
      it(`reaches an endpoint, ${family}`, async (t) => {
        const told = await scene.explain(t, at('web', family), ...from(scene.client));
        assertProven(told, 'REACHES', 0);
        assert.equal(told.explanation.proof?.kind, 'syn');
        assert.equal(told.explanation.proof?.answer.is, 'accepted');
        const host = await scene.explain(t, at('web', family), '--from', 'host');
        assertProven(host, 'REACHES', 0);
        assert.equal(host.explanation.proof?.answer.is, 'accepted');
      });

      it(`is refused where there are no endpoints, ${family}`, async (t) => {
        for (const who of [from(scene.client), ['--from', 'host']]) {
          const told = await scene.explain(t, at('none', family), ...who);
          assertProven(told, 'REFUSED_NO_ENDPOINTS', 3);
          assert.equal(told.explanation.proof?.answer.is, 'refused');
        }
      });

      it(`reaches itself, ${family}`, async (t) => {
        const told = await scene.explain(t, at('self', family), ...from(scene.client));
        assertProven(told, 'REACHES', 0);
        assert.equal(told.explanation.proof?.answer.is, 'accepted');
      });

      it(`is dropped where no endpoint is on this node, ${family}`, async (t) => {
        const told = await scene.explain(t, at('edge', family), ...from(scene.client));
        assertProven(told, 'DROPPED_NO_LOCAL_ENDPOINTS', 3);
      });

      it(`reaches a node port from outside, ${family}`, async (t) => {
        const address = family === 'ipv4' ? NODE.ipv4 : `[${NODE.ipv6}]`;
        const target = `${address}:${NODE_PORT}`;
        const told = await scene.explain(t, target, ...from(scene.outside));
        assertProven(told, 'REACHES', 0);
        assertProven(await scene.explain(t, target, '--from', 'host'), 'REACHES', 0);
      });

      it(`asks UDP without sending a packet to an endpoint, ${family}`, async (t) => {
        const told = await scene.explain(t, at('dns', family, '/udp'), ...from(scene.client));
        assertProven(told, 'REACHES', 0);
        assert.equal(told.explanation.proof?.kind, 'dry');
        const sent = [at('dns', family, '/udp'), ...from(scene.client), '--probe', 'connect'];
        const answered = await scene.explain(t, ...sent);
        assert.equal(answered.explanation.proof?.answer.is, 'answered');
      });

      it(`keeps to an endpoint with affinity, only if asked, ${family}`, async (t) => {
        const target = at('sticky', family);
        const { code, explanation } = await scene.explain(t, target, ...from(scene.client));
        assert.equal(code, 0);
        assert.match(explanation.notProven ?? '', /affinity entry/);
        const goals = new Set<string>();
        for (let count = 0; count < 8; count++) {
          const told = await scene.explain(t, target, ...from(scene.client), '--probe', 'syn');
          assertProven(told, 'REACHES', 0);
          assert.match(told.explanation.proof?.leftBehind.join() ?? '', /affinity entry/);
          const outcome = told.explanation.proof?.outcome;
          goals.add(outcome?.is === 'forwarded' ? outcome.endpoint : '');
        }
        assert.equal(goals.size, 1);
      });

      it(`names a rule of another table that drops or rejects, ${family}`, async (t) => {
        const match = family === 'ipv4' ? 'ip' : 'ip6';
        for (const [verdict, code] of [
          ['drop', 'DROPPED_BY_RULE'],
          ['reject with tcp reset', 'REFUSED_BY_RULE'],
        ]) {
          const rule = `${match} saddr ${scene.client[family]} tcp dport 8080 ${verdict}`;
          const chain = `chain guard { type filter hook forward priority 5; ${rule}; }`;
          run(['nft', '-f', '-'], `table inet planted { ${chain}; }`);
          try {
            const told = await scene.explain(t, at('web', family), ...from(scene.client));
            assert.equal(told.explanation.code, code, JSON.stringify(told.explanation.proof));
            assert.equal(told.code, 4);
            assert.match(told.explanation.sentence, /rule \d+ of chain guard, table inet planted/);
          } finally {
            run(['nft', 'delete', 'table', 'inet', 'planted']);
          }
        }
      });
    }

    it('is dropped outside of the source ranges', async (t) => {
      const told = await scene.explain(t, `${BALANCER}:80`, ...from(scene.outside));
      assertProven(told, 'DROPPED_SOURCE_RANGE', 3);
    });

    it('finds the network namespace of a pod by its address', async (t) => {
      const { ipv4 } = scene.client;
      assertProven(
        await scene.explain(t, at('web', 'ipv4'), '--from', `pod:${ipv4}`),
        'REACHES',
        0,
      );
    });

    it('says that it has no proof, where no client is known', async (t) => {
      const asked = [at('web', 'ipv4'), '--probe', 'syn'];
      const { code, explanation } = await scene.explain(t, ...asked);
      assert.equal(explanation.proof, null);
      assert.match(explanation.notProven ?? '', /no client was named/);
      assert.equal(code, 5);
    });

    it('puts every rule of Fairlead into words', async (t) => {
      const { explanation } = await scene.explain(t, at('web', 'ipv4'), ...from(scene.client));
      const own = (explanation.proof?.steps ?? []).filter(({ ours }) => ours);
      assert.ok(own.length >= 4, JSON.stringify(own));
      for (const { does, ...step } of own) assert.ok(does, JSON.stringify(step));
    });

    it('leaves no table', () => {
      assert.ok(!run(['nft', 'list', 'tables']).includes('probe'));
    });
  });
}

describe('docs/explain.md', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables');
  });
  after(() => scene.stop());

  it('shows what the command prints on a node', async (t) => {
    const page = await readFile(PAGE, 'utf8');
    const examples = [...page.matchAll(EXAMPLE)];
    assert.equal(examples.length, 2);
    for (const [, args = '', text = ''] of examples) {
      // The rule of the second one.
      if (text.startsWith('DROPPED_BY_RULE')) plantDrop(scene.client.ipv4);
      const out = await scene.explainText(t, ...args.split(' '));
      assert.equal(withoutNumbers(out), withoutNumbers(text));
      assert.ok(
        out.split('\n').every((line) => line.length <= 80),
        out,
      );
    }
  });
});

function plantDrop(source: string): void {
  const rule = `ip saddr ${source} tcp dport 8080 drop`;
  const chain = `chain guard { type filter hook forward priority 5; ${rule}; }`;
  run(['nft', '-f', '-'], `table inet planted { ${chain}; }`);
}

/** Ports, handles, times and the drawn endpoint differ from run to run, and with them line ends. */
function withoutNumbers(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/10\.244\.[23]\.10:8080(?! node)/g, 'ENDPOINT')
    .replaceAll(/(?<=10\.244\.1\.10):\d+/g, ':PORT')
    .replaceAll(/#\d+/g, '#HANDLE')
    .replaceAll(/pid \d+/g, 'pid PID')
    .replaceAll(/[\d.]+ ms/g, 'TIME ms');
}
