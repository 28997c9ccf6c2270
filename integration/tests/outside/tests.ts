import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { FAMILIES } from '../../../lab/network/plan.ts';
import { BRIDGE } from '../../../lab/outside/hosts.ts';
import { statusView } from '../../../src/commands/status/status-view.ts';
import { HEALTH_PORT, OutsideScene, POD, SERVICE_PORT } from './scene.ts';

const LONG_MS = 180_000;
const SERVED = `answered by ${POD}`;

/**
 * What an agent on a machine that is no node says of itself, and how it follows its file. Which
 * connections it serves is asked by the conformance scenarios `outside/`.
 */
export function testOutside(variant: string): void {
  describe(`${variant} on a machine without a Node object`, { timeout: LONG_MS }, () => {
    let scene: OutsideScene;

    before(async () => {
      scene = await OutsideScene.start(variant);
    });

    after(async () => {
      await scene?.[Symbol.asyncDispose]();
    });

    it('reports its health on loopback', async () => {
      const to = { address: '127.0.0.1', port: HEALTH_PORT, path: '/readyz' };
      assert.equal(await scene.status('machine', to), 200);
    });

    it('says in its status whom and what it serves', async () => {
      const text = stripVTControlCharacters(statusView(await scene.snapshot()));
      assert.match(text, /^clients: own sockets$/m);
      assert.match(text, /^external IPs, load-balancer IPs, and node ports are not served$/m);
    });

    it('serves containers behind a named interface, from a change of the file on', async () => {
      const ask = () => scene.ask('container', { address: scene.clusterIP('ipv4'), port: 80 });
      assert.equal(await ask(), 'silent');
      await scene.configure({ clients: [BRIDGE] });
      await scene.untilAnswers(SERVED, ask);
      for (const family of FAMILIES) {
        const to = { address: scene.clusterIP(family), port: SERVICE_PORT };
        assert.equal(await scene.ask('container', to), SERVED);
        assert.equal(await scene.ask('machine', to), SERVED);
      }
      await scene.configure({ clients: [] });
      await scene.untilAnswers('silent', ask);
    });

    it('is a gateway for everybody when the file says so', async () => {
      const to = { address: scene.clusterIP('ipv4'), port: SERVICE_PORT };
      await scene.configure({ clients: ['everybody'] });
      await scene.untilAnswers(SERVED, () => scene.ask('neighbour', to));
    });
  });
}
