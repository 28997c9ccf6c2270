import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BpfLink, openPinnedLink } from '../../../../src/linux/ebpf/bpf-link.ts';
import type { LinkInfo } from '../../../../src/linux/ebpf/info.ts';
import { loadObject } from '../../../../src/linux/ebpf/load-object.ts';
import type { BpfMap } from '../../../../src/linux/ebpf/map.ts';
import { openPinnedMap } from '../../../../src/linux/ebpf/map-create.ts';
import { parseObject } from '../../../../src/linux/ebpf/parse-object.ts';
import { frontendOfKey, wordsOf } from '../../../../src/wings/ebpf/plane/maps/entry-text.ts';
import { SETTINGS, SLOT } from '../../../../src/wings/ebpf/plane/maps/layout.ts';
import { ONLY } from '../../../../src/wings/ebpf/plane/maps/map-set.ts';

const OBJECT = fileURLToPath(new URL('../../../../dist/bpf/sock.bpf.o', import.meta.url));
const HOOK = 'connect4';
const STRANGE_COOKIE = 1n;
const STRANGE_PORT = 9;

/** Links and maps of a node as root finds them in the pin folder. */
export class PinnedHooks {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** One per pinned link, sorted by name. */
  links(): LinkInfo[] {
    const names = readdirSync(join(this.folder, 'links')).sort();
    return names.map((name) => this.#withLink(name, (link) => link.info()));
  }

  /** As `bpftool link detach` does. */
  takeOff(): void {
    this.#withLink(HOOK, (link) => link.detach());
  }

  /** Our program on empty maps: it passes everything. */
  replaceProgram(): void {
    const programs = [{ name: HOOK }];
    const loaded = loadObject(parseObject(readFileSync(OBJECT)), { programs });
    this.#withLink(HOOK, (link) => {
      for (const program of loaded.programs.values()) link.update(program);
    });
    loaded.close();
  }

  removeLinkPin(): void {
    rmSync(join(this.folder, 'links', HOOK));
  }

  removeMapPin(): void {
    rmSync(join(this.folder, 'maps/frontends'));
  }

  deleteFrontend(): void {
    this.#withMap('frontends', (map) => {
      const key = map.nextKey(undefined);
      if (key === undefined) throw new Error('the frontend map is empty');
      map.delete(key);
    });
  }

  /** An endpoint gets another port: of some Service but that at this address, which is led astray. */
  alterSlot({ butOf }: { readonly butOf: string }): void {
    const slot = this.#slotInUse(butOf);
    this.#withMap('slots', (map) => {
      const key = Buffer.alloc(map.keySize);
      key.writeUInt32LE(slot);
      const value = map.lookup(key) ?? Buffer.alloc(SLOT.bytes);
      value.writeUInt16BE(STRANGE_PORT, SLOT.port);
      map.update(key, value);
    });
  }

  /** The node is taken for a pod. */
  alterSettings(): void {
    this.#withMap('settings', (map) => {
      const value = map.lookup(ONLY) ?? Buffer.alloc(SETTINGS.bytes);
      value.writeBigUInt64LE(STRANGE_COOKIE, SETTINGS.hostCookie);
      map.update(ONLY, value);
    });
  }

  #slotInUse(butOf: string): number {
    return this.#withMap('frontends', (map) => {
      for (let key = map.nextKey(undefined); key !== undefined; key = map.nextKey(key)) {
        const value = map.lookup(key);
        if (value === undefined || frontendOfKey(key).address === butOf) continue;
        const led = wordsOf(value).find(({ count }) => count > 0);
        if (led !== undefined) return led.first;
      }
      throw new Error('no frontend refers to a slot');
    });
  }

  #withLink<T>(name: string, use: (link: BpfLink) => T): T {
    const link = openPinnedLink(join(this.folder, 'links', name));
    try {
      return use(link);
    } finally {
      link.close();
    }
  }

  #withMap<T>(name: string, use: (map: BpfMap) => T): T {
    const map = openPinnedMap(join(this.folder, 'maps', name));
    try {
      return use(map);
    } finally {
      map.close();
    }
  }
}
