import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type RealCluster, startRealCluster } from '../../lab/real/cluster.ts';
import { makeFairleadArchive } from '../../lab/real/proxies/fairlead.ts';
import { findRealProxy } from '../../lab/real/proxies/registry.ts';
import { kubectlOf } from '../swap/kubectl.ts';
import { finishLoad, type LoadOn, provideLoadArchive, startLoad } from '../swap/load.ts';
import { swapTable } from '../swap/table.ts';
import { assertTables } from '../swap/tables.ts';
import { failureCount, type Phase, tallyPhases } from '../swap/tally.ts';
import { type Desk, openDesk } from './desk.ts';

const LONG_MS = 1_200_000;
const PER_SECOND = 100;
const REST_MS = 5_000;
const PATIENT = ['--timeout', '400'];

interface Told {
  readonly done: boolean;
  readonly steps: { title: string; state: string; why?: string[]; commands: object[] }[];
}

/** Real nodes under load; the mode that kube-proxy has by default, and the one that Fairlead has. */
for (const proxy of ['upstream-nftables', 'upstream-iptables']) {
  describe(`kubectl fairlead swap and back, from ${proxy}`, {
    timeout: LONG_MS,
    concurrency: false,
  }, () => {
    let cluster: RealCluster;
    let desk: Desk;
    let load: LoadOn;
    const phases: Phase[] = [];
    const { signal } = new AbortController();

    before(async () => {
      cluster = await startRealCluster({
        nodeCount: 2,
        proxy: findRealProxy(proxy),
        moreArchives: async (folder) => [
          await makeFairleadArchive({ folder, signal }, { isReleaseName: true }),
          await provideLoadArchive(),
        ],
      });
      desk = await openDesk(cluster);
      load = { cluster, kubectl: kubectlOf(cluster, signal), perSecond: PER_SECOND, signal };
      await startLoad(load);
    });
    after(async () => await cluster?.[Symbol.asyncDispose]());

    async function during<T>(title: string, work: () => Promise<T>): Promise<T> {
      const from = Date.now();
      try {
        return await work();
      } finally {
        phases.push({ title, from, to: Date.now() });
      }
    }

    const told = async (exitCode: number, ...args: string[]): Promise<Told> =>
      await during(args.join(' '), async () => {
        const answer = await desk.fairlead(...args, '-o', 'json');
        assert.equal(answer.exitCode, exitCode, answer.stdout + answer.stderr);
        return JSON.parse(answer.stdout) as Told;
      });

    const daemonSets = async () =>
      (await desk.kubectl('-n', 'kube-system', 'get', 'daemonsets', '-o', 'name'))
        .trim()
        .split('\n');

    it('changes nothing in a dry run', async () => {
      const before = await daemonSets();
      const { steps } = await told(0, 'swap', '--dry-run');
      assert.equal(steps.length, 6);
      assert.deepEqual(await daemonSets(), before);
    });

    it('stops before kube-proxy ends where Fairlead does not start', async () => {
      const image = ['--image', 'fairlead.test/missing:1'];
      const { done, steps } = await told(3, 'swap', ...image, '--timeout', '20');
      assert.equal(done, false);
      assert.deepEqual([steps.length, steps.at(-1)?.state], [2, 'failed']);
      assert.match(
        steps.at(-1)?.why?.join() ?? '',
        /node1: pod of Fairlead: (ErrImagePull|ImagePull)/,
      );
      const ready = ['get', 'daemonset', 'kube-proxy', '-o', 'jsonpath={.status.numberReady}'];
      assert.equal(await desk.kubectl('-n', 'kube-system', ...ready), '2');
    });

    it('continues with the right image, up to Fairlead alone', async () => {
      const image = ['--image', 'localhost/fairlead:0.0.0'];
      const { done, steps } = await told(0, 'swap', ...image, ...PATIENT);
      assert.deepEqual([done, steps.length], [true, 6]);
      if (proxy === 'upstream-nftables') {
        await assertTables(cluster, { of: 'fairlead', not: 'kube-proxy' });
      }
      assert.deepEqual(await daemonSets(), [
        'daemonset.apps/fairlead',
        'daemonset.apps/kube-proxy',
      ]);
      await during('Fairlead alone', () => delay(REST_MS));
    });

    it('finds all done when it runs again', async () => {
      const { steps } = await told(0, 'swap', ...PATIENT);
      const states = steps.map(({ state }) => state);
      assert.deepEqual(
        states,
        ['already', 'already', 'already', 'already', 'already', 'done'],
        JSON.stringify(steps),
      );
    });

    it('goes back to kube-proxy alone', async () => {
      const { done } = await told(0, 'back', ...PATIENT);
      assert.equal(done, true);
      if (proxy === 'upstream-nftables') {
        await assertTables(cluster, { of: 'kube-proxy', not: 'fairlead' });
      }
      assert.deepEqual(await daemonSets(), ['daemonset.apps/kube-proxy']);
      await during('kube-proxy alone again', () => delay(REST_MS));
    });

    it('lets no connection fail', async (t) => {
      const results = tallyPhases(phases, await finishLoad(load));
      t.diagnostic(`\n${swapTable(results)}`);
      assert.equal(failureCount(results), 0);
      // New connections to both addresses, and one that stays open.
      const tried = results.flatMap(({ tallies }) => tallies.map(({ attempted }) => attempted));
      assert.equal(tried.length, 3 * phases.length);
      assert.ok(
        tried.every((count) => count > 0),
        String(tried),
      );
    });
  });
}
