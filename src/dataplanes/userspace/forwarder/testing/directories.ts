import type { WireFrontend, WireRow } from '../../protocol.ts';
import { Directory, type DirectoryOptions } from '../directory.ts';
import { SlotTable } from '../slot-table.ts';
import { COUNT_FIELDS } from '../slots.ts';

const SLOTS = 1_000;

export interface TestMemory {
  readonly open: Int32Array;
  readonly avoided: Int32Array;
  readonly counts: readonly Float64Array[];
}

/** A directory with small memory, and a clock that the test sets. */
export function testDirectory(options: Partial<DirectoryOptions> = {}) {
  const memory: TestMemory = {
    open: new Int32Array(SLOTS),
    avoided: new Int32Array(SLOTS),
    counts: [1, 2].map(() => new Float64Array(SLOTS * COUNT_FIELDS)),
  };
  const slots = new SlotTable({ ...memory, mostSlots: SLOTS });
  const clock = { nowMs: 1_000_000 };
  const directory = new Directory({ slots, nowMs: () => clock.nowMs, waitMs: 1, ...options });
  return { directory, memory, clock, slots };
}

const CLUSTER = { list: 'cluster', masquerade: false } as const;

export function testFrontend(address: string, port: number): WireFrontend {
  return { address, port, treatments: { pod: CLUSTER, host: CLUSTER, outside: CLUSTER } };
}

export function testRow(name: string, row: Partial<WireRow> = {}): WireRow {
  return {
    key: `default/${name}/TCP/IPv4`,
    affinitySeconds: 0,
    frontends: [testFrontend('10.96.0.1', 80)],
    cluster: ['10.0.0.1 80', '10.0.0.2 80'],
    local: [],
    ...row,
  };
}
