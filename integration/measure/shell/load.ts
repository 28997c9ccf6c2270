/** A client, run by `measure -- shell` in three places. Prints what it saw as one line of JSON. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../../../lab/host/spread.ts';
import type { Task, Waits } from './tasks.ts';

const REQUEST_DEADLINE_MS = 20_000;
const CHUNK_BYTES = 65_536;
const SHOWN_FAILURES = 5;
const MEGABYTE = 1_000_000;

const task = JSON.parse(process.argv[2] ?? '') as Task;
console.log(JSON.stringify(await perform()));
process.exit(0);

async function perform(): Promise<unknown> {
  switch (task.kind) {
    case 'requests':
      return await requests(task);
    case 'steady':
      return await steady(task);
    case 'echo':
      return await echo(task);
    case 'unread':
      return await besideUnread(task);
  }
}

/** Of one request with a connection of its own: how long it took, or why it failed. */
type Answer = number | string;

async function request(url: string): Promise<Answer> {
  const startedAt = performance.now();
  const afterMs = (): number => performance.now() - startedAt;
  return await new Promise((resolve) => {
    const failed = (why: string): void => resolve(`${why} after ${afterMs().toFixed(0)} ms`);
    const asked = get(url, { agent: false, timeout: REQUEST_DEADLINE_MS }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve(afterMs());
        else failed(`status ${response.statusCode}`);
      });
      response.on('error', (error: NodeJS.ErrnoException) => failed(`${error.code} in the answer`));
    });
    asked.on('timeout', () => asked.destroy(new Error('nothing heard')));
    asked.on('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message));
  });
}

async function requests(of: { url: string; count: number; atOnce: number }): Promise<Waits> {
  const startedAt = performance.now();
  const waits: Answer[] = [];
  let left = of.count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      waits.push(await request(of.url));
    }
  };
  await Promise.all(Array.from({ length: of.atOnce }, worker));
  return waitsOf(waits, performance.now() - startedAt);
}

/** At their times, whether earlier ones were answered or not, until a file tells to stop. */
async function steady(of: Task & { kind: 'steady' }): Promise<Waits> {
  const startedAt = performance.now();
  const waits: Promise<Answer>[] = [];
  writeFileSync(of.startedFile, 'yes');
  while (!existsSync(of.stopFile)) {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > of.mostSeconds * 1000) throw new Error('nobody told the load to stop');
    const due = Math.floor((elapsedMs / 1000) * of.perSecond);
    while (waits.length < due) waits.push(request(of.url));
    await delay(1);
  }
  const tookMs = performance.now() - startedAt;
  return waitsOf(await Promise.all(waits), tookMs);
}

function waitsOf(all: readonly Answer[], tookMs: number): Waits {
  const answered = all.filter((answer) => typeof answer === 'number');
  const failures = all.filter((answer) => typeof answer === 'string');
  return {
    tried: all.length,
    failed: failures.length,
    failures: failures.slice(0, SHOWN_FAILURES),
    perSecond: (answered.length / tookMs) * 1000,
    medianMs: quantile(answered, 0.5),
    p99Ms: quantile(answered, 0.99),
    longestMs: quantile(answered, 1),
  };
}

/** Sends random bytes and reads what comes back. */
async function echo(of: { host: string; port: number; bytes: number }) {
  const socket = connect(of.port, of.host);
  const sent = createHash('sha256');
  const received = createHash('sha256');
  const startedAt = performance.now();
  const returned = readBytes(socket, { count: of.bytes, hash: received });
  for (let left = of.bytes; left > 0; left -= CHUNK_BYTES) {
    const chunk = randomBytes(Math.min(CHUNK_BYTES, left));
    sent.update(chunk);
    if (!socket.write(chunk)) await new Promise((resolve) => socket.once('drain', resolve));
  }
  await returned;
  const seconds = (performance.now() - startedAt) / 1000;
  socket.destroy();
  return {
    isEqual: sent.digest('hex') === received.digest('hex'),
    megabytesPerSecond: of.bytes / MEGABYTE / seconds,
  };
}

async function readBytes(
  socket: Socket,
  { count, hash }: { count: number; hash: ReturnType<typeof createHash> },
): Promise<void> {
  let left = count;
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      hash.update(chunk);
      left -= chunk.length;
      if (left <= 0) resolve();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed with ${left} bytes left`)));
  });
}

/** The same requests before and beside a connection whose bytes nobody reads. */
async function besideUnread(of: Task & { kind: 'unread' }) {
  const load = { url: of.url, count: of.count, atOnce: 1 };
  const before = await requests(load);
  const unread = connect(of.port, of.host);
  await new Promise((resolve, reject) => unread.once('connect', resolve).once('error', reject));
  // Without a listener for data nothing is read: the buffers on the way fill up and stay full.
  const beside = await requests(load);
  const isOpen = !unread.destroyed && unread.readyState === 'open';
  unread.resume();
  const first = await new Promise<Buffer>((resolve) => unread.once('data', resolve));
  unread.destroy();
  return { before, beside, isOpen: isOpen && first.length > 0 };
}
