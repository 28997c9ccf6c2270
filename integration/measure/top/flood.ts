import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { insertFlows, type NewFlow, newFlow } from '../../../src/linux/conntrack/testing/insert.ts';
import { agentSource } from '../../../src/wings/top/traffic-sources.ts';

/**
 * Conntrack entries as connections to Services would make them: at once, then so many a second. A
 * tenth of the Services gets nine tenths of them.
 */
const [runFolder = '', live = '', perSecond = ''] = process.argv.slice(2);
const BATCHES_PER_SECOND = 20;
const served = await agentSource(join(runFolder, STATUS_SOCKET)).served();
const addresses = (served?.ports ?? []).flatMap(([, frontends]) =>
  frontends.filter(([address]) => address.includes('.')).slice(0, 1),
);
let serial = 0;

/** New ones end soon, or the table would be full. */
const SHORT_SECONDS = 3;

function* shortFlows(count: number): Generator<NewFlow> {
  for (const flow of flows(count)) yield { ...flow, timeoutSeconds: SHORT_SECONDS };
}

function* flows(count: number): Generator<NewFlow> {
  for (let made = 0; made < count; made++) {
    serial += 1;
    const few = Math.max(1, Math.floor(addresses.length / 10));
    const among = serial % 10 === 0 ? addresses.length : few;
    const destination = addresses[(serial * 7919) % among] ?? ['10.96.0.1', 80];
    yield newFlow({
      protocol: 6,
      client: [`10.200.${(serial >> 8) & 0xff}.${serial & 0xff}`, 1024 + (serial >> 16)],
      destination,
      answeredBy: ['10.128.0.7', 8080],
    });
  }
}

await insertFlows(flows(Number(live)));
console.log('ready');
let late = performance.now();
for (;;) {
  await insertFlows(shortFlows(Math.ceil(Number(perSecond) / BATCHES_PER_SECOND)));
  late += 1000 / BATCHES_PER_SECOND;
  await delay(Math.max(0, late - performance.now()));
}
