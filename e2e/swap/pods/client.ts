/**
 * Runs in a pod: opens new connections to each target at a steady rate, keeps one stream open, and
 * prints what became of them, a line of JSON for each target and tenth of a second.
 *
 * Arguments: connections a second to each target, then `name=address:port,address:port` for each.
 * The stream goes to the first target.
 */
import net from 'node:net';

interface Bucket {
  /** Time of the first attempt in it, in milliseconds since 1970. */
  readonly at: number;
  readonly target: string;
  attempted: number;
  answered: number;
  slowestMs: number;
  failures: string[];
}

interface Target {
  readonly name: string;
  readonly addresses: readonly string[];
}

const BUCKET_MS = 100;
const TICK_MS = 5;
/** Long enough for two lost packets to be sent again: a slow answer is not a failure. */
const ANSWER_DEADLINE_MS = 5_000;
const STREAM_PERIOD_MS = 50;
const STREAM = 'stream';

const [rate = '', ...texts] = process.argv.slice(2);
const targets = texts.map((text): Target => {
  const [name = '', addresses = ''] = text.split('=');
  return { name, addresses: addresses.split(',') };
});

for (const target of targets) openSteadily(target, Number(rate));
if (targets[0] !== undefined) openStream(targets[0].addresses[0] ?? '');

function openSteadily(target: Target, perSecond: number): void {
  const startedAt = performance.now();
  let opened = 0;
  let bucket = newBucket(target.name);
  setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1000);
    if (Date.now() - bucket.at >= BUCKET_MS) {
      printWhenComplete(bucket);
      bucket = newBucket(target.name);
    }
    for (; opened < due; opened++) {
      openOnce(target.addresses[opened % target.addresses.length] ?? '', bucket);
    }
  }, TICK_MS);
}

function openOnce(address: string, bucket: Bucket): void {
  bucket.attempted++;
  const startedAt = performance.now();
  const socket = connect(address);
  const fail = (why: string): void => {
    bucket.failures.push(`${address}: ${why}`);
    socket.destroy();
  };
  const deadline = setTimeout(() => fail('no answer'), ANSWER_DEADLINE_MS);
  socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
  socket.on('close', () => clearTimeout(deadline));
  socket.once('data', () => {
    bucket.answered++;
    bucket.slowestMs = Math.max(bucket.slowestMs, Math.round(performance.now() - startedAt));
    socket.destroy();
  });
  socket.write('?');
}

/** The Service is new: until its first connection is accepted, the proxy may not have its rules. */
function openStream(address: string): void {
  const socket = connect(address);
  const again = (): void => void setTimeout(() => openStream(address), STREAM_PERIOD_MS);
  socket.once('error', again);
  socket.once('connect', () => {
    socket.off('error', again);
    keepStream(address, socket);
  });
}

/** Each number that comes back is an answer; one that has not come back in time has failed. */
function keepStream(address: string, socket: net.Socket): void {
  const sentAt = new Map<string, number>();
  let bucket = newBucket(STREAM);
  let number = 0;
  let rest = '';
  const end = (why: string): void => void bucket.failures.push(`${address}: ${why}`);
  socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  socket.on('close', () => end('closed'));
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const sent = sentAt.get(line);
      // Given up already, and counted.
      if (sent === undefined) continue;
      sentAt.delete(line);
      bucket.answered++;
      bucket.slowestMs = Math.max(bucket.slowestMs, Math.round(performance.now() - sent));
    }
  });
  setInterval(() => {
    if (Date.now() - bucket.at >= BUCKET_MS) {
      console.log(JSON.stringify(bucket));
      bucket = newBucket(STREAM);
    }
    for (const [late, sent] of sentAt) {
      if (performance.now() - sent < ANSWER_DEADLINE_MS) break;
      end(`no answer to ${late}`);
      sentAt.delete(late);
    }
    if (socket.destroyed) return;
    bucket.attempted++;
    sentAt.set(String(++number), performance.now());
    socket.write(`${number}\n`);
  }, STREAM_PERIOD_MS);
}

function connect(address: string): net.Socket {
  const end = address.lastIndexOf(':');
  const socket = net.connect({ host: address.slice(0, end), port: Number(address.slice(end + 1)) });
  return socket.setNoDelay(true);
}

function newBucket(target: string): Bucket {
  return { at: Date.now(), target, attempted: 0, answered: 0, slowestMs: 0, failures: [] };
}

/** Its last attempt may take until the deadline to fail. */
function printWhenComplete(bucket: Bucket): void {
  setTimeout(() => console.log(JSON.stringify(bucket)), ANSWER_DEADLINE_MS + BUCKET_MS);
}
