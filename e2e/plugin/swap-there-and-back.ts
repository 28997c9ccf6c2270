import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { swapTable } from '../swap/table.ts';
import { assertTables } from '../swap/tables.ts';
import { failureCount } from '../swap/tally.ts';
import { openSwapScene, type SwapScene } from './swap-scene.ts';

const LONG_MS = 1_200_000;
const PATIENT = ['--timeout', '400'];
const TARGETS = 3;
const ROOT = join(import.meta.dirname, '../..');

interface Told {
  readonly done: boolean;
  readonly steps: { readonly state: string; readonly why?: readonly string[] }[];
}

/** The tests of both ways on real nodes under load, from a kube-proxy of lab/real/proxies. */
export function testThereAndBack(proxy: string, of: { readonly hasTables: boolean }): void {
  const options = { timeout: LONG_MS, concurrency: false };
  describe(`kubectl fairlead swap and back, from ${proxy}`, options, () => {
    let scene: SwapScene;
    before(async () => {
      scene = await openSwapScene(proxy);
    });
    after(async () => await scene?.[Symbol.asyncDispose]());

    const told = async (exitCode: number, ...args: string[]): Promise<Told> =>
      await scene.during(args.join(' '), async () => {
        const answer = await scene.desk.fairlead(...args, '-o', 'json');
        assert.equal(answer.exitCode, exitCode, answer.stdout + answer.stderr);
        return JSON.parse(answer.stdout) as Told;
      });

    const inNamespace = (...args: string[]) => scene.desk.kubectl('-n', 'kube-system', ...args);
    const daemonSets = async () =>
      (await inNamespace('get', 'daemonsets', '-o', 'name')).trim().split('\n');

    it('changes nothing in a dry run', async () => {
      const earlier = await daemonSets();
      assert.equal((await told(0, 'swap', '--dry-run')).steps.length, 6);
      assert.deepEqual(await daemonSets(), earlier);
    });

    it('stops before kube-proxy ends where Fairlead does not start', async () => {
      const image = ['--image', 'fairlead.test/missing:1'];
      const { done, steps } = await told(3, 'swap', ...image, '--timeout', '20');
      assert.deepEqual([done, steps.length, steps.at(-1)?.state], [false, 2, 'failed']);
      assert.match(steps.at(-1)?.why?.join() ?? '', /node1: pod of Fairlead: (Err)?ImagePull/);
      const ready = ['get', 'daemonset', 'kube-proxy', '-o', 'jsonpath={.status.numberReady}'];
      assert.equal(await inNamespace(...ready), '2');
    });

    it('continues with the right image, up to Fairlead alone', async () => {
      const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
      const image = ['--image', `localhost/fairlead:${version}`];
      const { done, steps } = await told(0, 'swap', ...image, ...PATIENT);
      assert.deepEqual([done, steps.length], [true, 6]);
      if (of.hasTables) await assertTables(scene.cluster, { of: 'fairlead', not: 'kube-proxy' });
      assert.deepEqual(await daemonSets(), [
        'daemonset.apps/fairlead',
        'daemonset.apps/kube-proxy',
      ]);
      await scene.rest('Fairlead alone');
    });

    it('finds all done when it runs again', async () => {
      const { steps } = await told(0, 'swap', ...PATIENT);
      const expected = ['already', 'already', 'already', 'already', 'already', 'done'];
      const states = steps.map(({ state }) => state);
      assert.deepEqual(states, expected, JSON.stringify(steps));
    });

    it('goes back to kube-proxy alone', async () => {
      assert.equal((await told(0, 'back', ...PATIENT)).done, true);
      if (of.hasTables) await assertTables(scene.cluster, { of: 'kube-proxy', not: 'fairlead' });
      assert.deepEqual(await daemonSets(), ['daemonset.apps/kube-proxy']);
      await scene.rest('kube-proxy alone again');
    });

    it('lets no connection fail', async (t) => {
      const results = await scene.results();
      t.diagnostic(`\n${swapTable(results)}`);
      assert.equal(failureCount(results), 0);
      // New connections to both addresses, and one that stays open.
      const tried = results.map(({ tallies }) => tallies.filter(({ attempted }) => attempted > 0));
      assert.ok(tried.every(({ length }) => length === TARGETS));
    });
  });
}
