import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { startDaemon } from '../../../lab/host/processes.ts';
import { run, tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type RealCluster, startRealCluster } from '../../../lab/real/cluster.ts';
import { REAL_PROXIES } from '../../../lab/real/proxies/registry.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const OBJECTS = join(import.meta.dirname, 'objects.yaml');
const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] as const;
const DEADLINE_MS = 180_000;
const REQUESTS = 200;

let cluster: RealCluster;
let folder: string;

before(async () => {
  const [proxy] = REAL_PROXIES;
  assert.ok(proxy);
  cluster = await startRealCluster({ nodeCount: 1, proxy });
  await kubectl('apply', '-f', OBJECTS);
  await kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
  folder = await mkdtemp(join(tmpdir(), 'fairlead-shell-test-'));
  await chmod(folder, 0o755);
  await writeKubeconfig();
});

after(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const admin = `--kubeconfig=${cluster.credentials.adminKubeconfig}`;
  const argv = enterNamespace(cluster.fabricPath, [cluster.parts.kubectl, admin, ...args]);
  return await run(argv, { deadlineMs: DEADLINE_MS });
}

/** Of an account that has the Role of docs/shell.md, and no other right. */
async function writeKubeconfig(): Promise<void> {
  const admin = JSON.parse(await readFile(cluster.credentials.adminKubeconfig, 'utf8'));
  const [{ cluster: of }] = admin.clusters;
  const authority = await readFile(of['certificate-authority'], 'base64');
  const token = (await kubectl('create', 'token', 'laptop')).trim();
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: of.server, 'certificate-authority-data': authority } },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config), { mode: 0o644 });
}

function shell(script: string): readonly [string, ...string[]] {
  const options = ['--kubeconfig', join(folder, 'kubeconfig'), '--namespaces', 'default'];
  return [...NOBODY, process.execPath, MAIN, 'shell', ...options, '--', 'sh', '-c', script];
}

it('reaches a Service by its name on a real node, as a user with a Role', async () => {
  const script = `for i in $(seq ${REQUESTS}); do curl -sf -m 20 http://web/hostname || exit 3; echo; done; exit 7`;
  const argv = enterNamespace(cluster.fabricPath, shell(script));
  const { exitCode, stdout, stderr } = await tryRun(argv, { deadlineMs: DEADLINE_MS });
  assert.equal(exitCode, 7, stderr);
  const pods = stdout.trim().split('\n');
  assert.equal(pods.length, REQUESTS);
  assert.equal(new Set(pods).size, 2, 'both pods serve');
});

it('leaves no process and no file behind when it is killed', async () => {
  const marker = join(folder, 'started');
  await writeFile(marker, '', { mode: 0o666 });
  await chmod(marker, 0o666);
  const daemon = startDaemon({
    name: 'a shell',
    namespacePath: cluster.fabricPath,
    argv: shell(`echo yes > ${marker}; sleep 98765; true`),
    logFile: join(folder, 'log'),
  });
  const isStarted = async () => (await readFile(marker, 'utf8')) !== '';
  await until(isStarted, { what: 'the command to run', deadlineMs: DEADLINE_MS });
  assert.notDeepEqual(await leftovers(), []);
  process.kill(daemon.pid, 'SIGKILL');
  const isClean = async () => (await leftovers()).length === 0;
  await until(isClean, { what: 'everything to end', deadlineMs: 30_000 });
});

/** Processes and folders of a shell of this test. */
async function leftovers(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const args = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (args.includes('98765')) found.push(args);
  }
  for (const name of await readdir(tmpdir())) {
    if (/^fairlead-shell-\d/.test(name)) found.push(name);
  }
  return found;
}
