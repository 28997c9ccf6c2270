import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TraceEvent } from '../../linux/trace/decode-trace.ts';
import { observe } from './observe-trace.ts';

const SYN = {
  protocol: 6,
  source: '10.1.0.1',
  sourcePort: 40_000,
  destination: '10.96.0.10',
  destinationPort: 80,
  tcpFlags: ['SYN'],
} as const;
const TRANSLATED = { ...SYN, destination: '10.1.0.2', destinationPort: 8080 } as const;
const ANSWER = {
  ...SYN,
  source: '10.1.0.2',
  sourcePort: 8080,
  destination: '10.1.0.1',
  destinationPort: 40_000,
  tcpFlags: ['SYN', 'ACK'],
} as const;

function event(packetId: number, chain: string, packet: TraceEvent['packet']): TraceEvent {
  const verdict = 'accept';
  const of = { packetId, kind: 'policy', family: 'ip', table: 'probe', chain, verdict } as const;
  return packet === undefined ? of : { ...of, packet };
}

function outcomeOf(events: readonly TraceEvent[]) {
  return observe({
    events,
    answer: { is: 'accepted', afterMs: 1 },
    asked: { address: SYN.destination, port: SYN.destinationPort },
    probe: { table: 'probe', lastChains: ['leaves'] },
    hookOf: ({ chain }) => chain,
    isOurs: () => false,
    wordsOf: () => undefined,
    processAddresses: [],
  }).outcome;
}

describe('observe()', () => {
  const forwarded = { is: 'forwarded', endpoint: '10.1.0.2:8080', seenAs: '10.1.0.1:40000' };

  it('follows a packet to its end', () => {
    const way = [event(1, 'comes', SYN), event(1, 'leaves', TRANSLATED)];
    assert.deepEqual(outcomeOf(way), forwarded);
  });

  it('follows a packet that a bridge has given another id', () => {
    const way = [event(1, 'comes', SYN), event(2, 'leaves', TRANSLATED)];
    assert.deepEqual(outcomeOf(way), forwarded);
  });

  it('does not take an answer for the packet', () => {
    const way = [event(1, 'comes', SYN), event(2, 'leaves', ANSWER)];
    assert.deepEqual(outcomeOf(way), { is: 'lost', after: 'comes' });
  });
});
