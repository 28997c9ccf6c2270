import { writeFile } from 'node:fs/promises';
import { NodeBench } from './node-bench.ts';

/**
 * Run in a process of its own: from a complete model to the last element that the kernel has
 * acknowledged. Leaves the bytes of every message in a file, for a bare loop to send again.
 */
const [services = '', endpoints = '', file = '', warmUps = '0'] = process.argv.slice(2);
const size = { services: Number(services), endpointsPerService: Number(endpoints) };
for (let count = 0; count < Number(warmUps); count++) {
  await using warmUp = new NodeBench({ size });
  await warmUp.tell();
  await warmUp.coldStartMs();
}
const sent: Buffer[] = [];
let firstSentAtMs: number | undefined;
await using bench = new NodeBench({
  size,
  onSend: (bytes) => {
    firstSentAtMs ??= performance.now();
    // The buffer is used again for the next message.
    sent.push(Buffer.from(bytes));
  },
});
await bench.tell();
const before = process.cpuUsage();
const startedAtMs = performance.now();
const milliseconds = await bench.coldStartMs();
const { user, system } = process.cpuUsage(before);
await writeFile(file, Buffer.concat(sent.flatMap((bytes) => [lengthOf(bytes), bytes])));
console.log(
  JSON.stringify({
    milliseconds,
    // The first thing that is sent is a question, before the first row is translated.
    rowsMilliseconds: (firstSentAtMs ?? startedAtMs) - startedAtMs,
    messages: sent.length,
    bytes: sent.reduce((sum, { length }) => sum + length, 0),
    cpuMilliseconds: (user + system) / 1_000,
  }),
);

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return length;
}
