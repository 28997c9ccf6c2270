import type { RowChange } from '../../../../dataplanes/contract.ts';
import {
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
} from '../../../../forwarding/model.ts';
import type { Binary } from './binary.ts';
import { affinityName } from './map-row.ts';

interface StickyPort {
  readonly key: ServicePortKey;
  readonly name: Binary;
  readonly affinitySeconds: number;
}

/** Service ports with session affinity, by the name under which the maps have their clients. */
export class StickyPorts {
  readonly #byName = new Map<Binary, StickyPort>();
  readonly #byKey = new Map<ServicePortKey, StickyPort>();

  get(name: Binary): StickyPort | undefined {
    return this.#byName.get(name);
  }

  add(row: Forwarding): void {
    const { affinitySeconds } = row;
    if (affinitySeconds === 0) return;
    const key = servicePortKey(row.id);
    const known = this.#byKey.get(key);
    if (known?.affinitySeconds === affinitySeconds) return;
    const name = known?.name ?? affinityName(key).toString('latin1');
    const port = { key, name, affinitySeconds };
    this.#byName.set(name, port);
    this.#byKey.set(key, port);
  }

  /** Call it before the programs see the rows, so that no sweep deletes their affinity entries. */
  addAll(changes: readonly RowChange[]): void {
    for (const { after } of changes) if (after) this.add(after);
  }

  /** Call it when the programs see the rows. */
  deleteFormer(changes: readonly RowChange[]): void {
    if (this.#byKey.size === 0) return;
    for (const { key, after } of changes) {
      if (after !== undefined && after.affinitySeconds > 0) continue;
      const known = this.#byKey.get(key);
      if (known === undefined) continue;
      this.#byKey.delete(key);
      this.#byName.delete(known.name);
    }
  }
}
