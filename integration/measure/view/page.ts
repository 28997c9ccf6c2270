import { readFileSync } from 'node:fs';
import http from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A page as far as the server sees it, in the network namespace of the agent: follows the ticks, reads
 * all dots once, searches now and then, and prints one line of JSON for each answer.
 */
const [logFile = '', seconds = ''] = process.argv.slice(2);
const SEARCH_MS = 5_000;

const [, port, token] = /:(\d+)\/\?token=(\S+)/.exec(readFileSync(logFile, 'utf8')) ?? [];
const headers = { Authorization: `Bearer ${token}` };
const beganAtMs = performance.now();

function print(what: string, bytes: number): void {
  console.log(JSON.stringify({ what, bytes, afterMs: performance.now() - beganAtMs }));
}

async function ask(path: string): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  http.get({ host: '127.0.0.1', port, path, headers, agent: false }, resolve).on('error', reject);
  return await promise;
}

async function read(path: string): Promise<void> {
  let bytes = 0;
  for await (const chunk of (await ask(path)) as AsyncIterable<Buffer>) bytes += chunk.length;
  print(path, bytes);
}

async function follow(): Promise<void> {
  const stream = await ask('/data/ticks');
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const events = (text + chunk).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const [, kind = '', json = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      print(kind, Buffer.byteLength(json));
    }
  });
}

await follow();
await read('/data/dots');
while (performance.now() - beganAtMs < Number(seconds) * 1000) {
  await read('/data/search?q=7');
  await delay(SEARCH_MS);
}
process.exit(0);
