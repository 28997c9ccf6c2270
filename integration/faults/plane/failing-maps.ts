import { Tables } from '../../../src/dataplanes/ebpf/tables.ts';
import { BpfError } from '../../../src/linux/bpf/errors.ts';
import type { BpfMap } from '../../../src/linux/bpf/map.ts';
import type { Failures } from './failures.ts';

const ENOMEM = 12;

/**
 * Lets writes to maps fail at random. A fake, and it stands where bpf(2) is called: nobody outside a
 * process can make the kernel refuse one write and take the next. What the kernel can do it does: a
 * write that fails has written nothing, one of many entries may have written the first of them.
 */
export class MapFailures implements Failures {
  readonly #share: number;
  readonly #wrapped = new WeakSet<BpfMap>();
  callCount = 0;
  failedCount = 0;

  constructor(share: number) {
    this.#share = share;
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
    };
    const remove = map.delete.bind(map);
    map.delete = (key) => {
      this.#call(map);
      return remove(key);
    };
    const updateBatch = map.updateBatch.bind(map);
    map.updateBatch = async (keys, values, count) => {
      if (!this.#fails()) return await updateBatch(keys, values, count);
      const done = Math.floor(Math.random() * count);
      const first = {
        keys: keys.subarray(0, done * map.keySize),
        values: values.subarray(0, done * map.entryBytes),
      };
      await updateBatch(first.keys, first.values, done);
      throw refusal(map);
    };
  }

  #call(map: BpfMap): void {
    if (this.#fails()) throw refusal(map);
  }

  #fails(): boolean {
    this.callCount++;
    if (Math.random() >= this.#share) return false;
    this.failedCount++;
    return true;
  }
}

function refusal({ name }: BpfMap): BpfError {
  return new BpfError('BPF_FULL', `cannot write into the map ${name}: a planted failure`, {
    errno: ENOMEM,
  });
}
