import { constants } from 'node:os';
import { BpfError } from '../../../../src/linux/ebpf/bpf-error.ts';
import type { BpfMap } from '../../../../src/linux/ebpf/map.ts';
import { Tables } from '../../../../src/wings/ebpf/plane/maps/open-tables.ts';
import type { Failures } from './failures.ts';

const { ENOMEM } = constants.errno;

/**
 * Makes map writes fail at random. A fake in place of bpf(2): another process cannot make the kernel
 * reject one write and accept the next. It fails as the kernel does: a failed write has written
 * nothing, a failed batch may have written its first entries.
 */
export class MapFailures implements Failures {
  readonly #share: number;
  readonly #random: () => number;
  readonly #onWrite: (() => void) | undefined;
  readonly #wrapped = new WeakSet<BpfMap>();
  callCount = 0;
  failedCount = 0;

  /** With `onWrite`, entries are written one by one, and it is called after each. */
  constructor(share: number, more: { random?: () => number; onWrite?: () => void } = {}) {
    this.#share = share;
    this.#random = more.random ?? Math.random;
    this.#onWrite = more.onWrite;
  }

  tables(maps: ReadonlyMap<string, BpfMap>): Tables {
    const tables = new Tables(maps);
    const { frontends, slots, nodeAddresses, settings } = tables;
    for (const map of [frontends, slots, nodeAddresses, settings]) this.#wrap(map);
    return tables;
  }

  #wrap(map: BpfMap): void {
    // When maps grow, those that stay are opened again.
    if (this.#wrapped.has(map)) return;
    this.#wrapped.add(map);
    const update = map.update.bind(map);
    map.update = (...args) => {
      this.#call(map);
      update(...args);
      this.#onWrite?.();
    };
    const remove = map.delete.bind(map);
    map.delete = (key) => {
      this.#call(map);
      const wasThere = remove(key);
      this.#onWrite?.();
      return wasThere;
    };
    const updateBatch = map.updateBatch.bind(map);
    map.updateBatch = async (keys, values, count) => {
      const fails = this.#fails();
      const done = fails ? Math.floor(this.#random() * count) : count;
      const step = this.#onWrite ? 1 : done;
      for (let from = 0; from < done; from += step) {
        const end = from + step;
        const key = keys.subarray(from * map.keySize, end * map.keySize);
        await updateBatch(key, values.subarray(from * map.entryBytes, end * map.entryBytes), step);
        this.#onWrite?.();
      }
      if (fails) throw rejection(map);
    };
  }

  #call(map: BpfMap): void {
    if (this.#fails()) throw rejection(map);
  }

  #fails(): boolean {
    this.callCount++;
    if (this.#random() >= this.#share) return false;
    this.failedCount++;
    return true;
  }
}

function rejection({ name }: BpfMap): BpfError {
  return new BpfError('BPF_FULL', `cannot write into the map ${name}: a planted failure`, {
    errno: ENOMEM,
  });
}
