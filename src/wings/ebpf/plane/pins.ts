import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BpfLink, openPinnedLink } from '../../../linux/ebpf/bpf-link.ts';
import { isOnBpf } from '../../../linux/ebpf/folders.ts';
import type { BpfMap } from '../../../linux/ebpf/map.ts';
import { openPinnedMap } from '../../../linux/ebpf/map-create.ts';

const PARTS = ['maps', 'links'] as const;

/**
 * Names in a bpf file system, which keep maps and links while this process is replaced, and by
 * which the next process and other commands find them.
 */
export class Pins {
  readonly folder: string;
  readonly #prepare: () => void;

  /** `prepare` creates the folder, and mounts its file system; it does nothing where both exist. */
  constructor(folder: string, prepare: () => void = () => undefined) {
    this.folder = folder;
    this.#prepare = prepare;
  }

  make(): void {
    this.#prepare();
    for (const part of PARTS) mkdirSync(join(this.folder, part), { recursive: true });
  }

  map(name: string): BpfMap | undefined {
    const path = this.#mapPath(name);
    return existsSync(path) ? openPinnedMap(path) : undefined;
  }

  /** The id of the map that is pinned there; undefined: none is. */
  mapId(name: string): number | undefined {
    const map = this.map(name);
    map?.close();
    return map?.id;
  }

  link(name: string): BpfLink | undefined {
    const path = this.#linkPath(name);
    return existsSync(path) ? openPinnedLink(path) : undefined;
  }

  hasLink(name: string): boolean {
    return existsSync(this.#linkPath(name));
  }

  /** In the place of another, with no moment in which there is none. */
  pinMap(name: string, map: BpfMap): void {
    const path = this.#mapPath(name);
    const fresh = `${path}_new`;
    rmSync(fresh, { force: true });
    map.pin(fresh);
    renameSync(fresh, path);
  }

  pinLink(name: string, link: BpfLink): void {
    const path = this.#linkPath(name);
    rmSync(path, { force: true });
    link.pin(path);
  }

  linkNames(): string[] {
    const folder = join(this.folder, 'links');
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  mapCount(): number {
    const folder = join(this.folder, 'maps');
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  removeLink(name: string): void {
    rmSync(this.#linkPath(name), { force: true });
  }

  /** The folder comes from the configuration: change nothing else in it. */
  removeAll(): void {
    if (!isOnBpf(this.folder)) return;
    for (const part of PARTS) rmSync(join(this.folder, part), { recursive: true, force: true });
    try {
      rmdirSync(this.folder);
    } catch (error) {
      // Others have something in it, or it is where the file system is mounted.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EBUSY') throw error;
    }
  }

  #mapPath(name: string): string {
    return join(this.folder, 'maps', name);
  }

  #linkPath(name: string): string {
    return join(this.folder, 'links', name);
  }
}
