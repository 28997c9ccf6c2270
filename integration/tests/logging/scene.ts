import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';

/** The real program in a network namespace of its own, fed from files. */
export interface Scene {
  readonly folder: string;
  /** Done at the end of the test, the latest first. */
  atEnd(work: () => unknown): void;
  /** Starts `fairlead run` with standard error redirected as a shell does it. */
  start(redirection: string): Daemon;
  /** Writes a number of Services, and resolves when all are in the kernel. */
  programs(serviceCount: number): Promise<void>;
  /** The value of a metric of the running program. */
  metric(name: string): Promise<number>;
}

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const DEADLINE_MS = 60_000;
const FETCH = "process.stdout.write(await (await fetch('http://127.0.0.1:10249/metrics')).text())";

export async function scene(t: TestContext): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const atEnd = (work: () => unknown): void => {
    stack.defer(async () => {
      await work();
    });
  };
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-logging-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const namespace = `fairlead-logging-${process.pid}-${folder.slice(-6)}`;
  await run(['ip', 'netns', 'add', namespace]);
  atEnd(() => run(['ip', 'netns', 'delete', namespace]));
  await run(['ip', '-n', namespace, 'link', 'set', 'lo', 'up']);
  const namespacePath = join('/var/run/netns', namespace);
  const [manifests, runFolder] = [join(folder, 'manifests'), join(folder, 'run')];
  await mkdir(manifests);
  await writeServices(manifests, 1);
  return {
    folder,
    atEnd,
    start: (redirection) => {
      const args = [MAIN, 'run', '-f', manifests, '--run-folder', runFolder, '-v', '4'];
      const daemon = startDaemon({
        name: 'fairlead',
        namespacePath,
        argv: ['sh', '-c', `exec "$0" "$@" ${redirection}`, process.execPath, ...args],
        logFile: join(folder, 'stdout.log'),
      });
      atEnd(() => daemon.kill());
      return daemon;
    },
    programs: async (serviceCount) => {
      await writeServices(manifests, serviceCount);
      const socketPath = join(runFolder, 'status.sock');
      await until(
        async () => {
          const status = await readStatus({ socketPath }).catch(() => undefined);
          return (status as AgentSnapshot | undefined)?.rows.applied === serviceCount;
        },
        { what: `${serviceCount} Services in the kernel`, deadlineMs: DEADLINE_MS },
      );
    },
    metric: async (name) => {
      const fetching = [process.execPath, '--input-type=module', '-e', FETCH] as const;
      const stdout = await run(enterNamespace(namespacePath, [...fetching]));
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(stdout)?.[1]);
    },
  };
}

async function writeServices(folder: string, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => {
    const clusterIP = `10.96.0.${index + 1}`;
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `web${index}`, namespace: 'default' },
      spec: {
        type: 'ClusterIP',
        clusterIP,
        clusterIPs: [clusterIP],
        ipFamilies: ['IPv4'],
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      },
    };
  });
  const list = { apiVersion: 'v1', kind: 'List', items };
  await writeFile(join(folder, 'services.json'), JSON.stringify(list));
}
