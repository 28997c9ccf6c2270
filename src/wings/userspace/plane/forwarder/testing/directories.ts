import type { WireFrontend, WireRow } from '../../forwarder-protocol.ts';
import { Directory, type DirectoryOptions } from '../forwarder-directory.ts';
import { ROW_MEMORY_BYTES } from '../row-memory.ts';
import { RowWriter } from '../row-writer.ts';
import { SlotTable } from '../slot-table.ts';
import { COUNT_FIELDS, openSharedMemory } from '../slots.ts';
import { ThreadView } from './thread-view.ts';

const SLOTS = 1_000;

/** A directory with few slots, what its threads see, and a clock that the test sets. */
export function testDirectory(options: Partial<DirectoryOptions> & { mostSlots?: number } = {}) {
  const { mostSlots = SLOTS, ...rest } = options;
  const shared = openSharedMemory(ROW_MEMORY_BYTES);
  const memory = {
    open: new Int32Array(shared.open),
    avoided: new Int32Array(shared.avoided),
    counts: [1, 2].map(() => new Float64Array(mostSlots * COUNT_FIELDS)),
  };
  const slots = new SlotTable({ memory: shared, counts: memory.counts, mostSlots });
  const clock = { nowMs: 1_000_000 };
  const gone: number[] = [];
  const directory = new Directory({
    memory: shared.rows,
    writer: new RowWriter(shared.rows),
    slots,
    nowMs: () => clock.nowMs,
    onGone: (left) => gone.push(...left),
    ...rest,
  });
  return { directory, memory, clock, slots, gone, thread: new ThreadView(shared, slots) };
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
