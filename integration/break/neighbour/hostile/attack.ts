import type { Attacker } from './attacker.ts';

/** Something that a user with rights in one namespace can do. */
export interface Attack {
  readonly name: string;
  /** For the reader of the table. */
  readonly what: string;
  /** Goes on until the signal; what it has written stays. */
  readonly run: (on: Attacker, signal: AbortSignal) => Promise<void>;
}

export const TARGET_PORT = 8080;
export const SLICE_PORTS = [{ name: '', protocol: 'TCP', port: TARGET_PORT }];
export const ONE_PORT = [{ protocol: 'TCP', port: 80, targetPort: TARGET_PORT }];
/** The API's limit of endpoints in a slice. */
export const MOST_IN_SLICE = 1_000;

/** Addresses that no pod has, from 10.208.0.0 on; `block` keeps attacks apart. */
export function endpoints(of: {
  block: number;
  count: number;
  from: number;
  nodeName?: string;
}): object[] {
  return Array.from({ length: of.count }, (_, index) => {
    const serial = (of.from + index) & 0xffff;
    return {
      addresses: [`10.${208 + of.block}.${serial >> 8}.${serial & 0xff}`],
      nodeName: of.nodeName ?? 'elsewhere-a',
      conditions: { ready: true, serving: true, terminating: false },
    };
  });
}

export function externalIps(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => {
    const serial = 1 + from + index;
    return `198.18.${(serial >> 8) & 0xff}.${serial & 0xff}`;
  });
}
