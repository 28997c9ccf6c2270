import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { countersView } from './counters-view.ts';

const KERNEL = { service: 'shop/dns/UDP/IPv4', endpoint: '10.1.0.2:53', connections: 3, bytes: 9 };
const COPIED = {
  service: 'shop/web/TCP/IPv4',
  endpoint: '10.1.0.1:8080',
  connections: 1042,
  bytes: 5,
  streams: {
    connections: 1040,
    open: 7,
    bytesToEndpoint: 1_200,
    bytesToClient: 34_000_000,
    connectMicroseconds: 520_000,
    refused: 2,
    timedOut: 1,
    avoidedMs: 3_400,
  },
};

function lines(...counts: Parameters<typeof countersView>[0]): string[] {
  return stripVTControlCharacters(countersView(counts)).split('\n');
}

it('lists the connections of each endpoint, the busiest first', () => {
  const busier = { ...KERNEL, endpoint: '10.1.0.3:53', connections: 30 };
  assert.deepEqual(lines(KERNEL, busier).slice(2), [
    'CONNECTIONS  ENDPOINT     SERVICE',
    '30           10.1.0.3:53  shop/dns/UDP/IPv4',
    '3            10.1.0.2:53  shop/dns/UDP/IPv4',
  ]);
});

it('adds what a forwarder measured, and dashes where only the kernel counts', () => {
  const text = lines(KERNEL, COPIED);
  for (const line of text.slice(0, 4)) assert.ok(line.length <= 80, line);
  const [head = '', copied = '', kernel = ''] = text.slice(5);
  assert.match(head, /^ALL +OPEN +SENT +RECEIVED +CONNECT +FAILED +ENDPOINT +SERVICE$/);
  assert.match(
    copied,
    /^1,042 +7 +1\.2 kB +34 MB +0\.5 ms +3 +10\.1\.0\.1:8080 \(avoided for 4 s\)/,
  );
  assert.match(kernel, /^3 +- +- +- +- +- +10\.1\.0\.2:53 +shop\/dns/);
});
