import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { plantReversePath } from './reverse-path.ts';
import { type Explained, type Scene, startScene } from './scene.ts';
import { clusterIp, type ShopService } from './shop.ts';

const WAIT = ['--watch', '20s'] as const;

describe('explain watches the next packet of a client', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables');
  });
  after(() => scene.stop());

  /** Clients ask until the command has told of one of them. */
  async function watched(
    t: TestContext,
    service: ShopService,
    of: {
      readonly by: readonly PlacedHost[];
      readonly transport?: 'TCP' | 'UDP';
      readonly args?: readonly string[];
    },
  ): Promise<Explained> {
    const { by, transport = 'TCP', args = [] } = of;
    const address = clusterIp(service, 'ipv4');
    const suffix = transport === 'TCP' ? '' : '/udp';
    let isOver = false;
    const told = scene.explain(t, `${address}:80${suffix}`, ...WAIT, ...args);
    void told.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const question = { transport, address, port: 80, timeoutMs: 300 } as const;
      for (const host of by) await host.ask(question);
    }
    return await told;
  }

  function assertTold({ code, explanation }: Explained, wanted: string, exit: number): void {
    const seen = JSON.stringify({ ...explanation, elsewhere: [], candidates: [] }, undefined, 1);
    assert.equal(explanation.code, wanted, seen);
    assert.equal(explanation.proof?.kind, 'watched', seen);
    assert.equal(explanation.proof.agrees, exit !== 4);
    assert.equal(code, exit);
  }

  it('that is answered', async (t) => {
    const told = await watched(t, 'web', { by: [scene.outside] });
    assertTold(told, 'REACHES', 0);
    const { proof, question } = told.explanation;
    assert.equal(proof?.answer.is, 'accepted');
    assert.equal(question.from.class, 'outside');
    assert.equal(question.from.address, scene.outside.ipv4);
    assert.match(proof?.source ?? '', new RegExp(`^${scene.outside.ipv4}:\\d+$`));
  });

  it('of UDP', async (t) => {
    const told = await watched(t, 'dns', { by: [scene.client], transport: 'UDP' });
    assertTold(told, 'REACHES', 0);
    assert.equal(told.explanation.proof?.answer.is, 'answered');
    assert.equal(told.explanation.question.from.class, 'pod');
  });

  it('that is rejected as predicted', async (t) => {
    const told = await watched(t, 'none', { by: [scene.client] });
    assertTold(told, 'REFUSED_NO_ENDPOINTS', 3);
    assert.equal(told.explanation.proof?.answer.is, 'refused');
  });

  it('that is dropped as predicted', async (t) => {
    const told = await watched(t, 'edge', { by: [scene.client] });
    assertTold(told, 'DROPPED_NO_LOCAL_ENDPOINTS', 3);
  });

  it('that comes to an endpoint where nothing listens', async (t) => {
    for (const host of [scene.outside, scene.client]) {
      const told = await watched(t, 'deaf', { by: [host] });
      assertTold(told, 'ENDPOINT_REFUSES', 4);
      assert.equal(told.explanation.proof?.drop?.reason, 'NO_SOCKET');
    }
  });

  it('whose endpoint no machine has', async (t) => {
    const told = await watched(t, 'nobody', { by: [scene.client] });
    assertTold(told, 'NO_NEIGHBOUR', 4);
  });

  it('that a rule of another program drops', async (t) => {
    const chain = 'chain guard { type filter hook forward priority 5; tcp dport 8080 drop; }';
    run(['nft', '-f', '-'], `table inet planted { ${chain}; }`);
    t.after(() => run(['nft', 'delete', 'table', 'inet', 'planted']));
    const told = await watched(t, 'web', { by: [scene.outside] });
    assertTold(told, 'DROPPED_BY_RULE', 4);
    assert.match(told.explanation.sentence, /handle \d+ of chain guard, table inet planted/);
  });

  it('that rp_filter drops', async (t) => {
    const { outside } = scene;
    const web = clusterIp('web', 'ipv4');
    const source = plantReversePath(t, outside, web);
    const told = await watched(t, 'web', { by: [outside] });
    assertTold(told, 'DROPPED_REVERSE_PATH', 4);
    assert.equal(told.explanation.question.from.address, source);
  });

  it('of the client that was named, and of no other', async (t) => {
    const by = [scene.outside, scene.far, scene.client];
    const args = ['--from', scene.client.ipv4];
    const told = await watched(t, 'web', { by, args });
    assertTold(told, 'REACHES', 0);
    assert.match(told.explanation.proof?.source ?? '', new RegExp(`^${scene.client.ipv4}:`));
  });

  it('and says that none came', async (t) => {
    const asked = [`${clusterIp('web', 'ipv4')}:80`, '--watch', '300ms'];
    const { code, explanation } = await scene.explain(t, ...asked);
    assert.equal(explanation.notProven, 'no new connection came within 0.3 s');
    assert.equal(explanation.proof, null);
    assert.equal(code, 5);
  });

  it('and leaves no table', () => {
    assert.ok(!run(['nft', 'list', 'tables']).includes('probe'));
  });
});
