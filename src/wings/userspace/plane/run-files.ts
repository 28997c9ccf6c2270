import { renameSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The sockets of one forwarder in the run folder. */
export interface ForwarderSockets {
  /** Where the agent asks. */
  readonly control: string;
  /** Where listeners and pairs are handed over with their descriptors (SOCK_SEQPACKET). */
  readonly handover: string;
}

/** Of the forwarder that has the names: the last one that took over. */
export function currentSockets(runFolder: string): ForwarderSockets {
  return {
    control: join(runFolder, 'forwarder.sock'),
    handover: join(runFolder, 'forwarder-handover.sock'),
  };
}

/** Of a forwarder that has not taken over yet. */
export function newSockets(runFolder: string, pid: number): ForwarderSockets {
  return {
    control: join(runFolder, `forwarder-${pid}.sock`),
    handover: join(runFolder, `forwarder-${pid}-handover.sock`),
  };
}

/** The two socket files of this forwarder, under the names that they have now. */
export class SocketNames {
  readonly #runFolder: string;
  #now: ForwarderSockets;
  readonly #inodes = new Map<keyof ForwarderSockets, number>();

  constructor(runFolder: string) {
    this.#runFolder = runFolder;
    this.#now = newSockets(runFolder, process.pid);
    // Of a process before this one that was killed and had the same number.
    for (const path of Object.values(this.#now)) removeFile(path);
  }

  get paths(): ForwarderSockets {
    return this.#now;
  }

  /** Both listen: from now on the files are known to be ours. */
  bound(): void {
    for (const name of NAMES) this.#inodes.set(name, statSync(this.#now[name]).ino);
  }

  /** In place of the files of the forwarder before. */
  takeOver(): void {
    const current = currentSockets(this.#runFolder);
    for (const name of NAMES) {
      if (this.#now[name] !== current[name]) renameSync(this.#now[name], current[name]);
    }
    this.#now = current;
  }

  /** Deletes them unless another forwarder has taken the names. */
  remove(): void {
    for (const name of NAMES) {
      const found = statSync(this.#now[name], { throwIfNoEntry: false });
      if (found !== undefined && found.ino === this.#inodes.get(name)) removeFile(this.#now[name]);
    }
  }
}

const NAMES: readonly (keyof ForwarderSockets)[] = ['control', 'handover'];

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
