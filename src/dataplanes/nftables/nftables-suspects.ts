import type { NftEvent } from '../../linux/nftables/nftables-events.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { type Held, MANAGED_SETS, type ManagedSet, type Place } from './row-elements.ts';

interface SuspectPlace extends Place {
  readonly family: TableFamily;
  readonly set: ManagedSet;
}

type Suspect = Place & { readonly held: Held | 'absent' };

/**
 * What other processes have changed since the last inspection. Events carry the new value of an
 * element, so a changed element need not be read; anything larger must be.
 */
export class Suspects {
  readonly #elements = new Map<string, Map<Binary, Suspect>>();
  #scope: 'nothing' | 'structure' | 'everything' = 'nothing';

  /** How much an inspection has to read. */
  get scope(): 'nothing' | 'elements' | 'structure' | 'everything' {
    if (this.#scope === 'nothing' && this.#elements.size > 0) return 'elements';
    return this.#scope;
  }

  note(event: NftEvent): void {
    const set = event.name as ManagedSet;
    const isElements = event.kind === 'elements';
    if (isElements && MANAGED_SETS.includes(set)) this.#noteElements(event, set);
    // Elements are deleted with their set, without events of their own.
    else if (event.change === 'deleted' && (event.kind === 'table' || event.kind === 'set')) {
      this.noteEverything();
    } else if (this.#scope === 'nothing') this.#scope = 'structure';
  }

  noteEverything(): void {
    this.#scope = 'everything';
    this.#elements.clear();
  }

  /** Written by ourselves since: it is what we wrote. */
  clearElement(place: SuspectPlace): void {
    this.#elements.get(`${place.family} ${place.set}`)?.delete(place.key);
  }

  get hasElements(): boolean {
    return this.#elements.size > 0;
  }

  element(place: SuspectPlace): Held | 'absent' | undefined {
    return this.#elements.get(`${place.family} ${place.set}`)?.get(place.key)?.held;
  }

  *elements(family: TableFamily): Generator<Suspect & { readonly set: ManagedSet }> {
    for (const set of MANAGED_SETS) {
      for (const suspect of this.#elements.get(`${family} ${set}`)?.values() ?? []) {
        yield { set, ...suspect };
      }
    }
  }

  #noteElements(event: NftEvent, set: ManagedSet): void {
    const name = `${event.family} ${set}`;
    const elements = this.#elements.get(name) ?? new Map<Binary, Suspect>();
    this.#elements.set(name, elements);
    for (const { key, value } of event.elements) {
      const held: Held = value === undefined ? {} : { value };
      elements.set(key, { key, held: event.change === 'new' ? held : 'absent' });
    }
  }
}
