import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { enterNamespace, ipBatch, namespaceName } from '../../../lab/host/namespaces.ts';
import { type RunResult, tryRun } from '../../../lab/host/run.ts';
import { nodeAddress, podCidr } from '../../../lab/network/plan.ts';
import { startNetexec } from '../../../lab/servers/netexec.ts';
import type { CheckedData } from '../../../src/wings/outside/check/check-view.ts';
import { OutsideScene } from './scene.ts';

const PROGRAM = join(import.meta.dirname, '../../../src/main.ts');
const LONG_MS = 180_000;
const CHECK_DEADLINE_MS = 60_000;
const PROBLEMS_EXIT = 3;

interface Report {
  readonly answer: string;
  readonly problemCount: number;
  readonly checks: readonly CheckedData[];
}

describe('fairlead outside check', { timeout: LONG_MS }, () => {
  let scene: OutsideScene;

  before(async () => {
    scene = await OutsideScene.start('fairlead-nftables');
  });

  after(async () => {
    await scene?.[Symbol.asyncDispose]();
  });

  const onMachine = (...lines: string[]): Promise<void> =>
    ipBatch(lines, namespaceName({ lab: scene.lab.name, role: 'machine' }));

  async function check(output: 'text' | 'json', file = scene.configFile): Promise<RunResult> {
    const options = ['--config', file, '--run-folder', scene.runFolder, '-o', output];
    const argv = [process.execPath, PROGRAM, 'outside', 'check', ...options] as const;
    const entered = enterNamespace(scene.lab.namespacePath('machine'), [...argv]);
    return await tryRun(entered, { deadlineMs: CHECK_DEADLINE_MS });
  }

  /** The report, and that the exit code says whether it has problems. */
  async function report(file?: string): Promise<Report> {
    const { exitCode, stdout, stderr } = await check('json', file);
    assert.ok(stdout !== '', stderr);
    const found = JSON.parse(stdout) as Report;
    assert.equal(exitCode, found.problemCount > 0 ? PROBLEMS_EXIT : 0, stdout);
    return found;
  }

  /** The configuration with other fields, in a file of its own. */
  async function configured(change: (config: Configuration) => object): Promise<string> {
    const config = JSON.parse(await readFile(scene.configFile, 'utf8')) as Configuration;
    const file = join(scene.lab.folder, 'checked.json');
    await writeFile(file, JSON.stringify({ ...config, ...change(config) }));
    return file;
  }

  it('finds no problem on a good machine', async () => {
    const { exitCode, stdout, stderr } = await check('text');
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stdout, /^this machine can reach the cluster's Services/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
    for (const name of ['API server', 'rights', 'routes to pods', 'agent', 'a Service']) {
      assert.match(stdout, new RegExp(`^${name} +good`, 'm'));
    }
  });

  it('names a token that the API server rejects', async () => {
    const kubeconfig = join(scene.lab.folder, 'rejected.kubeconfig');
    const right = await readFile(scene.lab.credentials.proxyKubeconfig, 'utf8');
    await writeFile(kubeconfig, right.replace(/("?token"?: *"?)[^"\s]+/, '$1nobody'), {
      mode: 0o600,
    });
    const found = await report(await configured(() => ({ clientConnection: { kubeconfig } })));
    assert.equal(findingOf(found, 'API server').result, 'problem');
    assert.match(findingOf(found, 'API server').what, /401/);
    assert.equal(findingOf(found, 'rights').result, 'skipped');
  });

  describe('on a machine with six faults', () => {
    const lostRoutes = [podCidr(1).ipv4, '0.0.0.0/0'];
    const nft = (input: string) => {
      const path = scene.lab.namespacePath('machine');
      return tryRun(enterNamespace(path, ['nft', '-f', '-']), { input });
    };
    let otherProcess: AsyncDisposable;
    let found: Report;

    before(async () => {
      const file = await configured(({ fairlead }) => ({
        metricsBindAddress: '127.0.0.1:18249',
        fairlead: { ...fairlead, clusterDNS: [scene.clusterIP('ipv4')], clients: ['everybody'] },
      }));
      otherProcess = await startNetexec({
        namespacePath: scene.lab.namespacePath('machine'),
        hostname: 'other',
        ports: [{ port: 18_249, protocol: 'TCP' }],
      });
      await onMachine('addr add 10.99.0.1/24 dev docker0');
      await onMachine(...lostRoutes.map((to) => `route del ${to}`));
      await nft('table ip kube-proxy {\n chain services {\n }\n}\n');
      found = await report(file);
    });

    after(async () => {
      await nft('delete table ip kube-proxy\n');
      await onMachine(...lostRoutes.map((to) => `route add ${to} via ${nodeAddress(1).ipv4}`));
      await onMachine('addr del 10.99.0.1/24 dev docker0');
      await otherProcess?.[Symbol.asyncDispose]();
    });

    it('answers with how far it gets, and how many there are', () => {
      assert.match(
        found.answer,
        /^this machine cannot reach all of the cluster's Services; 4 problems, \d warnings$/,
      );
    });

    it('names an address of the machine in a Service range', () => {
      const { result, what } = findingOf(found, 'Service ranges');
      assert.equal(result, 'problem');
      assert.match(what, /10\.96\.0\.0\/12 overlaps the route 10\.99\.0\.0\/24 dev docker0/);
    });

    it('names pods without a route', () => {
      const { result, what, next } = findingOf(found, 'routes to pods');
      assert.equal(result, 'problem');
      assert.match(what, /^no route to 10\.129\./);
      assert.match(next ?? '', /ip route add 10\.129\.\d+\.0\/24 via/);
    });

    it('names a DNS server that does not answer', () => {
      const server = scene.clusterIP('ipv4');
      const { result, what } = findingOf(found, 'cluster DNS');
      assert.equal(result, 'problem');
      assert.equal(what, `no answer of ${server} by UDP, ${server} by TCP`);
    });

    it('names the process that has a port of Fairlead', () => {
      const { result, what } = findingOf(found, 'ports');
      assert.equal(result, 'problem');
      assert.match(what, /^127\.0\.0\.1:18249 is held by \S+ \(pid \d+\)/);
    });

    it('warns of a machine that is a gateway', () => {
      const { result, what } = findingOf(found, 'forwarding');
      assert.equal(result, 'warning');
      assert.match(what, /is a gateway/);
    });

    it('warns of the tables of another proxy', () => {
      const { result, what } = findingOf(found, 'other proxies');
      assert.equal(result, 'warning');
      assert.match(what, /the table ip kube-proxy/);
    });
  });

  describe('of the Service ranges', () => {
    const withRanges = (serviceRanges: readonly string[]) =>
      configured(({ fairlead }) => ({ fairlead: { ...fairlead, serviceRanges } }));

    it('names those that are recorded', async () => {
      const { result, what } = findingOf(await report(), 'ClusterIPs');
      assert.equal(result, 'good');
      assert.match(what, /^10\.96\.0\.0\/12, fd00:96::\/108 are recorded/);
    });

    it('finds a problem if none is recorded', async () => {
      const { result, what } = findingOf(await report(await withRanges([])), 'ClusterIPs');
      assert.equal(result, 'problem');
      assert.match(what, /none is served; the cluster names 10\.96\.0\.0\/12, fd00:96::\/108$/);
    });

    it('warns of ClusterIPs and ServiceCIDRs outside of them', async () => {
      const found = findingOf(await report(await withRanges(['10.96.0.0/12'])), 'ClusterIPs');
      assert.equal(found.result, 'warning');
      assert.match(found.what, /outside of the recorded 10\.96\.0\.0\/12: fd00:96::\S+ of /);
    });
  });

  it('says that nothing is in the way where Fairlead does not run yet', async () => {
    const options = ['--config', scene.configFile, '--run-folder', scene.lab.folder];
    const argv = [process.execPath, PROGRAM, 'outside', 'check', ...options] as const;
    const path = scene.lab.namespacePath('machine');
    const { exitCode, stdout } = await tryRun(enterNamespace(path, [...argv]));
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, /^Fairlead does not run on this machine; nothing else stands in the way/);
  });
});

function findingOf(report: Report, name: string): CheckedData {
  const found = report.checks.find((each) => each.name === name);
  assert.ok(found, `no check ${name}`);
  return found;
}

interface Configuration {
  readonly fairlead?: object;
}
