import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ip, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { type Explained, type Scene, startScene } from './scene.ts';
import {
  BALANCER,
  clusterIp,
  NOBODY,
  NODE,
  NODE_PORT,
  type ShopFamily,
  type ShopService,
} from './shop.ts';

/** What differs between modes. */
export interface ProvenMode {
  readonly mode: string;
  readonly usualTcpProbe: 'syn' | 'connect';
  /** The same for the node itself; undefined: as for pods. */
  readonly usualHostProbe?: 'syn' | 'connect';
  /** Tables whose rules have words, as they are named in steps. */
  readonly toldTables: RegExp;
  /** What a probe that was forwarded says of what it left; not given: nothing. */
  readonly leftBehind?: RegExp;
  /** The node's sockets are translated before they have a route. */
  readonly needsNoRoute?: true;
  readonly skip?: string | boolean;
}

export type SceneOf = () => Scene;

/** The same questions in every mode: prediction and packet agree. */
export function proveMode(of: ProvenMode, more?: (scene: SceneOf) => void): void {
  const { mode, skip = false } = of;
  describe(`explain proves by a packet, ${mode}`, { skip }, () => {
    let started: Scene | undefined;
    const scene: SceneOf = () => {
      assert.ok(started);
      return started;
    };
    before(async () => {
      started = await startScene(mode);
    });
    after(() => scene().stop());
    for (const family of ['ipv4', 'ipv6'] as const) {
      proveReaching(scene, family, of);
      proveNotReaching(scene, family);
      proveAffinity(scene, family, of);
      nameForeignRules(scene, family);
    }
    proveWays(scene, of);
    askEach(scene, of);
    more?.(scene);

    it('leaves no table', () => {
      assert.ok(!run(['nft', 'list', 'tables']).includes('probe'));
    });
  });
}

function proveReaching(
  scene: SceneOf,
  family: ShopFamily,
  { usualTcpProbe, usualHostProbe = usualTcpProbe, leftBehind = /^$/ }: ProvenMode,
): void {
  it(`reaches an endpoint, ${family}`, async (t) => {
    const { explain, client } = scene();
    const told = await explain(t, at('web', family), ...from(client));
    assertProven(told, 'REACHES', 0);
    assert.equal(told.explanation.proof?.kind, usualTcpProbe);
    assert.equal(told.explanation.proof?.answer.is, 'accepted');
    assert.match(told.explanation.proof?.leftBehind.join() ?? '', leftBehind);
    const host = await explain(t, at('web', family), '--from', 'host');
    assertProven(host, 'REACHES', 0);
    assert.equal(host.explanation.proof?.kind, usualHostProbe);
    assert.equal(host.explanation.proof?.answer.is, 'accepted');
  });

  it(`reaches itself, ${family}`, async (t) => {
    const told = await scene().explain(t, at('self', family), ...from(scene().client));
    assertProven(told, 'REACHES', 0);
    assert.equal(told.explanation.proof?.answer.is, 'accepted');
  });

  it(`says what an endpoint with an address of the node sees, ${family}`, async (t) => {
    for (const host of [scene().client, scene().outside]) {
      const told = await scene().explain(t, at('here', family), ...from(host));
      assertProven(told, 'REACHES', 0);
      const { proof, candidates, predicted } = told.explanation;
      const outcome = proof?.outcome;
      const seenAs = outcome?.is === 'forwarded' ? outcome.seenAs : '';
      const isKept = seenAs.includes(host[family]);
      const [share] = candidates;
      const isNode = share?.nodeSource ?? (predicted.masquerade === true && !share?.keepsSource);
      assert.equal(isKept, !isNode, JSON.stringify({ seenAs, share, predicted }));
    }
  });

  it(`reaches a node port from outside, ${family}`, async (t) => {
    const address = family === 'ipv4' ? NODE.ipv4 : `[${NODE.ipv6}]`;
    const target = `${address}:${NODE_PORT}`;
    assertProven(await scene().explain(t, target, ...from(scene().outside)), 'REACHES', 0);
    assertProven(await scene().explain(t, target, '--from', 'host'), 'REACHES', 0);
  });

  it(`asks UDP without sending a packet to an endpoint, ${family}`, async (t) => {
    const asked = [at('dns', family, '/udp'), ...from(scene().client)];
    const told = await scene().explain(t, ...asked);
    assertProven(told, 'WOULD_REACH', 5);
    assert.equal(told.explanation.proof?.kind, 'dry');
    const answered = await scene().explain(t, ...asked, '--probe', 'connect');
    assertProven(answered, 'REACHES', 0);
    assert.equal(answered.explanation.proof?.answer.is, 'answered');
  });
}

/** A connection that gets the good one of two endpoints must not hide the other. */
function askEach(scene: SceneOf, { usualTcpProbe }: Pick<ProvenMode, 'usualTcpProbe'>): void {
  const dead = `${NOBODY.ipv4}:8080`;

  it('names the dead one of two endpoints, whichever the first packet gets', async (t) => {
    const asked = [at('mixed', 'ipv4'), '--each', ...from(scene().client)];
    for (let count = 0; count < 4; count++) {
      const { code, explanation } = await scene().explain(t, ...asked);
      assert.equal(explanation.code, 'SOME_ENDPOINTS_FAIL', explanation.sentence);
      assert.ok(explanation.sentence.startsWith('1 of 2 endpoints of shop/mixed'));
      assert.ok(explanation.sentence.includes(dead));
      assert.equal(code, 4);
    }
    if (usualTcpProbe !== 'syn') return;
    const { explanation } = await scene().explain(t, ...asked.filter((arg) => arg !== '--each'));
    assert.equal(explanation.code, 'SOME_ENDPOINTS_FAIL', 'without being asked');
  });

  it('asks an endpoint at its own address', async (t) => {
    const { client, near } = scene();
    const alive = await scene().explain(t, `${near.ipv4}:8080`, ...from(client));
    assertProven(alive, 'REACHES', 0);
    assert.match(alive.explanation.sentence, /an endpoint of shop\/\w+, directly$/);
    const silent = await scene().explain(t, dead, ...from(client));
    assert.equal(silent.code, 4, silent.explanation.sentence);
  });

  it('finds a path that carries small packets only', async (t) => {
    const { far, client } = scene();
    const asked = [`${far.ipv4}:8080`, '--size', ...from(client)];
    const whole = await scene().explain(t, ...asked);
    assert.equal(whole.explanation.code, 'REACHES', whole.explanation.sentence);
    assert.ok((whole.explanation.proof?.large?.acknowledged ?? 0) > 1000);
    const hole = 'chain hole { type filter hook prerouting priority -400; ip length > 1000 drop; }';
    far.run(['nft', '-f', '-'], `table ip planted { ${hole}; }`);
    const lost = await scene().explain(t, ...asked);
    far.run(['nft', 'delete table ip planted']);
    assert.equal(lost.code, 4, lost.explanation.sentence);
    assert.equal(lost.explanation.proof?.large?.acknowledged, 0);
  });

  it('does not reach by UDP where no endpoint exists', async (t) => {
    const asked = [at('mute', 'ipv4', '/udp'), '--probe', 'connect', ...from(scene().client)];
    const { code, explanation } = await scene().explain(t, ...asked);
    assert.notEqual(explanation.code, 'REACHES');
    assert.ok(code === 3 || code === 4, `${code}`);
  });
}

function proveNotReaching(scene: SceneOf, family: ShopFamily): void {
  it(`is refused where there are no endpoints, ${family}`, async (t) => {
    for (const who of [from(scene().client), ['--from', 'host']]) {
      const told = await scene().explain(t, at('none', family), ...who);
      assertProven(told, 'REFUSED_NO_ENDPOINTS', 3);
      assert.equal(told.explanation.proof?.answer.is, 'refused');
    }
  });

  it(`is dropped where no endpoint is on this node, ${family}`, async (t) => {
    const told = await scene().explain(t, at('edge', family), ...from(scene().client));
    assertProven(told, 'DROPPED_NO_LOCAL_ENDPOINTS', 3);
  });
}

function proveAffinity(
  scene: SceneOf,
  family: ShopFamily,
  { usualTcpProbe }: Pick<ProvenMode, 'usualTcpProbe'>,
): void {
  it(`keeps to an endpoint with affinity, only if asked, ${family}`, async (t) => {
    const asked = [at('sticky', family), ...from(scene().client)];
    const { code, explanation } = await scene().explain(t, ...asked);
    assert.equal(code, 5);
    assert.match(explanation.notProven ?? '', /affinity entry/);
    const goals = new Set<string>();
    for (let count = 0; count < 8; count++) {
      const told = await scene().explain(t, ...asked, '--probe', usualTcpProbe);
      assertProven(told, 'REACHES', 0);
      assert.match(told.explanation.proof?.leftBehind.join() ?? '', /affinity entry/);
      const outcome = told.explanation.proof?.outcome;
      goals.add(outcome?.is === 'forwarded' ? outcome.endpoint : '');
    }
    assert.equal(goals.size, 1);
  });
}

function nameForeignRules(scene: SceneOf, family: ShopFamily): void {
  for (const [verdict, wanted] of [
    ['drop', 'DROPPED_BY_RULE'],
    ['reject with tcp reset', 'REFUSED_BY_RULE'],
  ]) {
    it(`names a rule of another table: ${verdict}, ${family}`, async (t) => {
      const match = family === 'ipv4' ? 'ip' : 'ip6';
      const rule = `${match} saddr ${scene().client[family]} tcp dport { 80, 8080 } ${verdict}`;
      const chain = `chain guard { type filter hook prerouting priority -150; ${rule}; }`;
      run(['nft', '-f', '-'], `table inet planted { ${chain}; }`);
      try {
        const told = await scene().explain(t, at('web', family), ...from(scene().client));
        assert.equal(told.explanation.code, wanted, JSON.stringify(told.explanation.proof));
        assert.equal(told.code, 4);
        assert.match(told.explanation.sentence, /handle \d+ of chain guard, table inet planted/);
        const text = told.explanation.proof?.steps.at(-1)?.does ?? '';
        assert.match(text, new RegExp(`tcp dport \\{ 80, 8080 \\} ${verdict}$`));
        // Nobody answers the probe that is dropped at the end: the rule itself tells.
        const dry = [...from(scene().client), '--probe', 'dry'];
        assert.equal(
          (await scene().explain(t, at('web', family), ...dry)).explanation.code,
          wanted,
        );
      } finally {
        run(['nft', 'delete', 'table', 'inet', 'planted']);
      }
    });
  }
}

function proveWays(scene: SceneOf, { toldTables, needsNoRoute }: ProvenMode): void {
  it('is dropped outside of the source ranges', async (t) => {
    const told = await scene().explain(t, `${BALANCER}:80`, ...from(scene().outside));
    assertProven(told, 'DROPPED_SOURCE_RANGE', 3);
  });

  it('finds the network namespace of a pod by its address', async (t) => {
    const asked = [at('web', 'ipv4'), '--from', `pod:${scene().client.ipv4}`];
    assertProven(await scene().explain(t, ...asked), 'REACHES', 0);
  });

  it('says that it has no proof, where no client is known', async (t) => {
    const { code, explanation } = await scene().explain(t, at('web', 'ipv4'), '--probe', 'dry');
    assert.equal(explanation.proof, null);
    assert.match(explanation.notProven ?? '', /no client was named/);
    assert.equal(code, 5);
  });

  it('puts every rule of Fairlead into words', async (t) => {
    const asked = [at('web', 'ipv4'), ...from(scene().client)];
    const { explanation } = await scene().explain(t, ...asked);
    const steps = explanation.proof?.steps ?? [];
    const own = steps.filter(({ ours, table }) => ours && toldTables.test(table));
    assert.ok(own.length >= 3, JSON.stringify(steps));
    for (const { does, ...step } of own) assert.ok(does, JSON.stringify(step));
  });

  if (needsNoRoute) return;
  it('says that the node has no route to a Service address', async (t) => {
    const { outside, explain } = scene();
    ip('route del default');
    try {
      const told = await explain(t, at('web', 'ipv4'), '--from', 'host');
      assert.equal(told.explanation.code, 'NO_ROUTE', told.explanation.sentence);
      assert.equal(told.code, 4);
    } finally {
      ip(`route add default via ${outside.ipv4}`);
    }
  });
}

export function from(host: PlacedHost): readonly [string, string] {
  return ['--from', `pid:${host.pid}`];
}

export function at(service: ShopService, family: ShopFamily, suffix = ''): string {
  const address = clusterIp(service, family);
  return `${family === 'ipv4' ? address : `[${address}]`}:80${suffix}`;
}

export function assertProven({ code, explanation }: Explained, wanted: string, exit: number): void {
  const { proof, notProven } = explanation;
  const seen = JSON.stringify({ ...explanation, elsewhere: [], candidates: [] }, undefined, 1);
  assert.equal(explanation.code, wanted, seen);
  assert.equal(notProven, undefined);
  assert.equal(proof?.agrees, true, seen);
  assert.equal(code, exit);
}
