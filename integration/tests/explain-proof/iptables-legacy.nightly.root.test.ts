import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { assertProven, at, from } from './questions.ts';
import { type Scene, startScene } from './scene.ts';

const NOT_TRACED = /rules are those of iptables-legacy, which no trace tells of/;

describe('explain in mode iptables, with the legacy backend', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('iptables', { prepare: useLegacy });
  });
  after(() => scene.stop());

  for (const family of ['ipv4', 'ipv6'] as const) {
    it(`proves that an endpoint is reached, and which, ${family}`, async (t) => {
      assert.match(run(['iptables-legacy-save', '-t', 'nat']), /KUBE-SERVICES/);
      for (const who of [from(scene.client), from(scene.outside), ['--from', 'host']]) {
        const told = await scene.explain(t, at('web', family), ...who);
        assertProven(told, 'REACHES', 0);
        assert.deepEqual(told.explanation.proof?.steps, []);
      }
    });

    it(`says that it cannot prove a rejection or a drop, and why, ${family}`, async (t) => {
      for (const [service, wanted] of [
        ['none', 'REFUSED_NO_ENDPOINTS'],
        ['edge', 'DROPPED_NO_LOCAL_ENDPOINTS'],
      ] as const) {
        const asked = [at(service, family), ...from(scene.client)];
        const { code, explanation } = await scene.explain(t, ...asked);
        assert.equal(explanation.code, wanted);
        assert.equal(explanation.proof, null);
        assert.match(explanation.notProven ?? '', NOT_TRACED);
        assert.equal(code, 3);
        const insisted = await scene.explain(t, ...asked, '--probe', 'syn');
        assert.equal(insisted.code, 5);
      }
    });
  }

  it('leaves no table', () => {
    assert.ok(!run(['nft', 'list', 'tables']).includes('probe'));
  });
});

/** By the chain that a kubelet makes in the backend that it uses. */
function useLegacy(): void {
  for (const program of ['iptables-legacy', 'ip6tables-legacy'] as const) {
    run([program, '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT']);
  }
}
