import type { Family, Forwarding, Frontend } from '../../../../forwarding/model.ts';
import { everybody, LOCAL_OUTSIDE, row, to } from './ipvs-rows.ts';

/** The same numbers for the same seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 up to, but without, `below`. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  is(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
const OUTCOMES = [
  everybody(to('cluster', true)),
  everybody(to('cluster')),
  { pod: to('cluster'), host: to('cluster', true), outside: to('cluster', true) },
  LOCAL_OUTSIDE,
  everybody({ action: 'reject' }),
  { ...LOCAL_OUTSIDE, outside: { action: 'drop' } },
] as const;
const SCHEDULERS = [
  { name: 'lc', flags: [] },
  { name: 'mh', flags: ['mh-fallback', 'mh-port'] },
  { name: 'dh', flags: [] },
  { name: 'ovf', flags: [], weight: 40 },
] as const;

/**
 * Rows that meet each other: three external addresses are those of the machine, and node ports are
 * among the ports that these have.
 */
export function randomRow(chance: Chance, number: number): Forwarding {
  const family: Family = number % 3 === 0 ? 'IPv6' : 'IPv4';
  const scheduler = chance.is(4) ? { scheduler: chance.of(SCHEDULERS) } : {};
  const endpoints = Array.from({ length: chance.below(6) }, () => 1 + chance.below(12));
  return {
    ...row({
      name: `service-${number}`,
      family,
      protocol: PROTOCOLS[number % 2] ?? 'TCP',
      endpoints: [...new Set(endpoints)],
      affinitySeconds: chance.is(4) ? 60 + chance.below(2) : 0,
      frontends: randomFrontends(chance, number, family),
      ...scheduler,
    }),
    ...(chance.is(15) ? { onlyPackets: true as const } : {}),
  };
}

function randomFrontends(chance: Chance, number: number, family: Family): Frontend[] {
  const isIpv4 = family === 'IPv4';
  const at = (v4: string, v6: string) => (isIpv4 ? v4 : v6);
  const outcomes = chance.of(OUTCOMES);
  const frontends: Frontend[] = [
    { kind: 'cluster-ip', address: at('10.96.0.', 'fd00:96::') + (number + 1), port: 80, outcomes },
  ];
  if (chance.is(2)) {
    frontends.push({ kind: 'node-port', address: '', port: 30000 + number, outcomes });
  }
  // Each row names the node port of its neighbour, at an address that the machine may have.
  if (chance.is(2)) {
    const address = chance.of([
      at('192.168.50.1', 'fd00:50::1'),
      at('192.168.50.2', 'fd00:50::2'),
      at('203.0.113.9', '2001:db8::9'),
    ]);
    const port = 30000 + ((number + 6) % 12);
    frontends.push({
      ...{ kind: 'external-ip', address, port, outcomes: chance.of(OUTCOMES) },
      ...(chance.is(6) ? { allowedSources: ['172.16.0.0/12'] } : {}),
    });
  }
  return frontends;
}
