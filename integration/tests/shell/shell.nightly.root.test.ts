import assert from 'node:assert/strict';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { startDaemon } from '../../../lab/host/processes.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type Laptop, startLaptop } from './laptop.ts';

const OBJECTS = join(import.meta.dirname, 'objects.yaml');
const DEADLINE_MS = 180_000;
const REQUESTS = 200;

let laptop: Laptop;

before(async () => {
  laptop = await startLaptop({ objects: OBJECTS, deployments: ['web'] });
});

after(async () => {
  await laptop[Symbol.asyncDispose]();
});

function shell(script: string): readonly [string, ...string[]] {
  return laptop.shell(['sh', '-c', script]);
}

it('reaches a Service by its name on a real node, as a user with a Role', async () => {
  const script = `for i in $(seq ${REQUESTS}); do curl -sf -m 20 http://web/hostname || exit 3; echo; done; exit 7`;
  const { exitCode, stdout, stderr } = await tryRun(shell(script), { deadlineMs: DEADLINE_MS });
  assert.equal(exitCode, 7, stderr);
  const pods = stdout.trim().split('\n');
  assert.equal(pods.length, REQUESTS);
  assert.equal(new Set(pods).size, 2, 'both pods serve');
});

it('ends with 128 and the number of the signal that ended the command', async () => {
  const { exitCode, stderr } = await tryRun(shell('kill -INT $$'), { deadlineMs: DEADLINE_MS });
  assert.equal(exitCode, 130, stderr);
});

it('leaves no process and no file behind when it is killed', async () => {
  const marker = join(laptop.folder, 'started');
  await writeFile(marker, '');
  await chmod(marker, 0o666);
  const daemon = startDaemon({
    name: 'a shell',
    namespacePath: laptop.cluster.fabricPath,
    argv: shell(`echo yes > ${marker}; sleep 98765; true`),
    logFile: join(laptop.folder, 'log'),
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
