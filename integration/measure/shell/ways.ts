import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startDaemon } from '../../../lab/host/processes.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import type { Laptop } from '../../tests/shell/laptop.ts';
import { says } from '../top/says.ts';
import type { Task } from './tasks.ts';

export const WAYS = ['straight', 'port-forward', 'fairlead shell'] as const;
export type Way = (typeof WAYS)[number];

const LOAD = join(import.meta.dirname, 'load.ts');
const PORT = 8080;
const FORWARDED_PORT = 18_080;
const DEADLINE_MS = 300_000;

type LoadArgv = (task: Task) => readonly [string, ...string[]];

/** Runs the client with the network of the way. */
export async function inShell<T>(laptop: Laptop, task: Task): Promise<T> {
  return await askLoad((of) => laptop.shell(loadCommand(of)), task);
}

async function askLoad<T>(argv: LoadArgv, task: Task): Promise<T> {
  return JSON.parse(await run(argv(task), { deadlineMs: DEADLINE_MS })) as T;
}

function loadCommand(task: Task): readonly string[] {
  return [process.execPath, LOAD, JSON.stringify(task)];
}

/** What a way needs around the client, which is told the address to ask. */
export async function byWay<T>(
  laptop: Laptop,
  way: Way,
  taskOf: (url: string) => Task,
): Promise<T> {
  if (way === 'fairlead shell') return await inShell(laptop, taskOf('http://web/hostname'));
  const plain: LoadArgv = (task) => laptop.plain(loadCommand(task));
  const pod = await onePod(laptop);
  if (way === 'straight') {
    return await askLoad(plain, taskOf(`http://${pod.address}:${PORT}/hostname`));
  }
  const { kubectl: program } = laptop.cluster.parts;
  const logFile = join(laptop.folder, 'port-forward.log');
  await rm(logFile, { force: true });
  const forward = startDaemon({
    name: 'kubectl port-forward',
    namespacePath: laptop.cluster.fabricPath,
    argv: [
      program,
      `--kubeconfig=${laptop.cluster.credentials.adminKubeconfig}`,
      'port-forward',
      `pod/${pod.name}`,
      `${FORWARDED_PORT}:${PORT}`,
    ],
    logFile,
  });
  try {
    await says(forward, `Forwarding from 127.0.0.1:${FORWARDED_PORT}`);
    return await askLoad(plain, taskOf(`http://127.0.0.1:${FORWARDED_PORT}/hostname`));
  } finally {
    await forward.stop();
  }
}

async function onePod(laptop: Laptop): Promise<{ name: string; address: string }> {
  const path = 'jsonpath={.items[0].metadata.name} {.items[0].status.podIP}';
  const text = await laptop.kubectl('get', 'pods', '-l', 'app=web', '-o', path);
  const [name = '', address = ''] = text.split(' ');
  return { name, address };
}

/** All pods replaced while the client asks; resolves when the new ones are there and the old are gone. */
export async function rollOut(laptop: Laptop): Promise<void> {
  await laptop.kubectl('rollout', 'restart', 'deployment/web');
  await laptop.kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
  const isGone = async (): Promise<boolean> =>
    (await laptop.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n')
      .length === 3;
  await until(isGone, { what: 'the old pods to be gone', deadlineMs: 120_000, everyMs: 500 });
}
