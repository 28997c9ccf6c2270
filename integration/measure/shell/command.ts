import { chmod, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { bundleFairlead } from '../../../bench/bundle.ts';
import { updateDocument } from '../../../lab/host/document.ts';
import { interruption } from '../../../lab/host/interruption.ts';
import { type Progress, terminalProgress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import { median } from '../../../lab/host/spread.ts';
import { until } from '../../../lab/host/until.ts';
import { KUBERNETES_VERSION } from '../../../lab/parts/build.ts';
import { type Laptop, startLaptop } from '../../tests/shell/laptop.ts';
import { complaints, resultMarkdown, resultText, type WayResult } from './report.ts';
import type { EchoResult, UnreadResult, Waits } from './tasks.ts';
import { byWay, inShell, rollOut, WAYS, type Way } from './ways.ts';

const OBJECTS = join(import.meta.dirname, 'objects.yaml');
const WEB_URL = 'http://web/hostname';
const ONE_BY_ONE = { count: 200, atOnce: 1 };
const AT_ONCE = { count: 2_000, atOnce: 16 };
const STARTS = 5;
const ROLLOUT_PER_SECOND = 200;
const ROLLOUT_MOST_SECONDS = 150;
const START_DEADLINE_MS = 60_000;
const ECHO_BYTES = 100_000_000;
const UNREAD_COUNT = 500;

interface Options {
  readonly rounds: number;
  readonly docs?: string;
}

/** Fails if a connection fails, a byte is wrong, or an unread connection delays another. */
export const command = new Command()
  .option('--rounds <count>', 'how often each way is measured, in turns', Number, 3)
  .option('--docs <file>', 'write the tables into a document, between their marks')
  .action(measure);

async function measure({ rounds, docs }: Options): Promise<void> {
  const machine = machineText();
  const progress = terminalProgress();
  const signal = interruption();
  const program = await bundleFairlead();
  const of = { objects: OBJECTS, deployments: ['web', 'bytes'], program };
  await using laptop = await startLaptop({ ...of, progress, signal });
  const ways = await measureWays(laptop, { rounds, progress });
  const startSeconds = await progress.step('start and end', () => measureStarts(laptop));
  const rollout = await progress.step('a rollout', () => measureRollout(laptop));
  const bytes = { host: 'bytes', port: 9000, bytes: ECHO_BYTES };
  const echo = await progress.step('100 MB', () =>
    inShell<EchoResult>(laptop, { kind: 'echo', ...bytes }),
  );
  const endless = { host: 'bytes', port: 9001, url: WEB_URL, count: UNREAD_COUNT };
  const unread = await progress.step('beside an unread connection', () =>
    inShell<UnreadResult>(laptop, { kind: 'unread', ...endless }),
  );
  const result = { machine, ways, startSeconds, rollout, echo, unread };
  console.log(resultText(result));
  if (docs !== undefined) await updateDocument(docs, 'measured', resultMarkdown(result));
  if (complaints(result).length > 0) process.exitCode = 1;
}

/** In turns, so that what else the machine does meets all of them. */
async function measureWays(
  laptop: Laptop,
  { rounds, progress }: { rounds: number; progress: Progress },
): Promise<WayResult[]> {
  const results = WAYS.map((way) => ({ way, oneByOne: [] as Waits[], atOnce: [] as Waits[] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { way, oneByOne, atOnce } of results) {
      await progress.step(`${way}, round ${round} of ${rounds}`, async () => {
        oneByOne.push(await requestsBy(laptop, way, ONE_BY_ONE));
        atOnce.push(await requestsBy(laptop, way, AT_ONCE));
      });
    }
  }
  return results;
}

async function requestsBy(
  laptop: Laptop,
  way: Way,
  load: { count: number; atOnce: number },
): Promise<Waits> {
  return await byWay(laptop, way, (url) => ({ kind: 'requests', url, ...load }));
}

/** A shell whose command does nothing. */
async function measureStarts(laptop: Laptop): Promise<number> {
  const seconds: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const startedAt = performance.now();
    await run(laptop.shell(['true']));
    seconds.push((performance.now() - startedAt) / 1000);
  }
  return median(seconds);
}

async function measureRollout(laptop: Laptop): Promise<Waits> {
  const startedFile = join(laptop.folder, 'load-started');
  const stopFile = join(laptop.folder, 'load-stop');
  await writeFile(startedFile, '');
  await chmod(startedFile, 0o666);
  const load = inShell<Waits>(laptop, {
    kind: 'steady',
    url: WEB_URL,
    perSecond: ROLLOUT_PER_SECOND,
    mostSeconds: ROLLOUT_MOST_SECONDS,
    startedFile,
    stopFile,
  });
  const isStarted = async (): Promise<boolean> => (await readFile(startedFile, 'utf8')) !== '';
  const rolled = until(isStarted, { what: 'the load', deadlineMs: START_DEADLINE_MS })
    .then(() => rollOut(laptop))
    .finally(() => writeFile(stopFile, ''));
  const [waits] = await Promise.all([load, rolled]);
  return waits;
}

function machineText(): string {
  const [load = Number.NaN] = loadavg();
  const processors = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  return `${processors}, Linux ${release()}, Kubernetes ${KUBERNETES_VERSION}, load before ${load.toFixed(1)}`;
}
