import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { FAMILIES } from '../../../lab/network/plan.ts';
import { BRIDGE } from '../../../lab/outside/hosts.ts';
import { statusView } from '../../../src/commands/status/view.ts';
import {
  CLAIMED_AS_EXTERNAL,
  CLAIMED_AS_LOAD_BALANCER,
  HEALTH_PORT,
  OutsideScene,
  POD,
  REAL_SERVER,
  SERVICE_HEALTH_PORT,
  SERVICE_PORT,
} from './scene.ts';

const LONG_MS = 180_000;
const SERVED = `answered by ${POD}`;
const REAL = `answered by ${REAL_SERVER}`;

/** What a proxy does on a machine that is no node, and what it does not. */
export function testOutside(variant: string): void {
  describe(`${variant} on a machine without a Node object`, { timeout: LONG_MS }, () => {
    let scene: OutsideScene;

    before(async () => {
      scene = await OutsideScene.start(variant);
    });

    after(async () => {
      await scene?.[Symbol.asyncDispose]();
    });

    for (const family of FAMILIES) {
      const toService = () => ({ address: scene.clusterIP(family), port: SERVICE_PORT });
      const toMachine = (port: number) => ({ address: scene.machineAddress(family), port });

      it(`serves ClusterIPs to its own sockets (${family})`, async () => {
        assert.equal(await scene.ask('machine', toService()), SERVED);
      });

      it(`does not open node ports (${family})`, async () => {
        assert.equal(await scene.ask('neighbour', toMachine(scene.nodePort)), 'refused');
        assert.equal(await scene.ask('machine', toMachine(scene.nodePort)), 'refused');
      });

      it(`is no gateway to ClusterIPs for neighbours and containers (${family})`, async () => {
        assert.equal(await scene.ask('neighbour', toService()), 'silent');
        assert.equal(await scene.ask('container', toService()), 'silent');
      });

      it(`leaves addresses that a Service claims to those who have them (${family})`, async () => {
        for (const claimed of [CLAIMED_AS_EXTERNAL, CLAIMED_AS_LOAD_BALANCER]) {
          const to = { address: claimed[family], port: SERVICE_PORT };
          assert.equal(await scene.ask('machine', to), REAL, claimed[family]);
        }
      });

      it(`does not open the health-check ports of Services (${family})`, async () => {
        for (const from of ['neighbour', 'machine'] as const) {
          assert.equal(await scene.ask(from, toMachine(SERVICE_HEALTH_PORT)), 'refused', from);
        }
      });

      it(`does not show its health to neighbours (${family})`, async () => {
        assert.equal(await scene.ask('neighbour', toMachine(HEALTH_PORT)), 'refused');
      });
    }

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
      await scene.configure({ clients: [BRIDGE] });
      await scene.untilAnswers(SERVED, ask);
      for (const family of FAMILIES) {
        const to = { address: scene.clusterIP(family), port: SERVICE_PORT };
        assert.equal(await scene.ask('container', to), SERVED);
        assert.equal(await scene.ask('neighbour', to), 'silent');
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
