import { type VirtualServerKey, virtualServerId } from '../../../linux/ipvs/model.ts';
import { type Drift, PlaneError } from '../../contract.ts';
import type { CapturedFrontend } from '../capture/frontend.ts';
import type {
  CaptureChange,
  CaptureElements,
  CaptureState,
  CaptureTables,
  Ensured,
} from '../capture/model.ts';

/** The capture tables in memory: exact as their transactions. A fake for the same reason as IPVS. */
export class MemoryCapture implements CaptureTables {
  captured = new Map<string, CapturedFrontend>();
  servers = new Map<string, VirtualServerKey>();
  hairpin = new Set<string>();
  tables: CaptureState = 'absent';
  writeCount = 0;
  isRefused: (change: CaptureChange) => boolean = () => false;

  async ensure(): Promise<Ensured> {
    const isThere = this.tables === 'active';
    this.tables = 'active';
    return { differences: [], differenceCount: 0, writeCount: isThere ? 0 : 1 };
  }

  async diff(): Promise<readonly []> {
    return [];
  }

  async configure(): Promise<void> {
    // Nothing in memory depends on facts.
  }

  async write(change: CaptureChange): Promise<void> {
    this.writeCount += 1;
    if (this.isRefused(change)) throw refused('NFT_ENOMEM');
    const { captured, servers, hairpin } = this;
    this.captured = new Map(captured);
    this.servers = new Map(servers);
    this.hairpin = new Set(hairpin);
    try {
      this.#perform(change);
    } catch (error) {
      Object.assign(this, { captured, servers, hairpin });
      throw error;
    }
  }

  async read(): Promise<CaptureElements> {
    return {
      captured: new Map(this.captured),
      servers: new Map(this.servers),
      hairpin: new Set(this.hairpin),
    };
  }

  async watch(_onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  takeReported(): boolean {
    return false;
  }

  async attachments(): Promise<readonly []> {
    return [];
  }

  async state(): Promise<CaptureState> {
    return this.tables;
  }

  async inventory(): Promise<readonly []> {
    return [];
  }

  async retire(): Promise<void> {
    this.tables = 'retired';
  }

  async remove(): Promise<void> {
    this.tables = 'absent';
    this.captured.clear();
    this.servers.clear();
    this.hairpin.clear();
  }

  #perform(change: CaptureChange): void {
    for (const each of change.take ?? []) {
      if (this.captured.has(virtualServerId(each))) throw refused('NFT_EEXIST');
      this.captured.set(virtualServerId(each), each);
    }
    for (const each of change.retake ?? []) {
      if (!this.captured.has(virtualServerId(each))) throw refused('NFT_ENOENT');
      this.captured.set(virtualServerId(each), each);
    }
    for (const each of change.pass ?? []) {
      if (!this.captured.delete(virtualServerId(each))) throw refused('NFT_ENOENT');
    }
    for (const each of change.serversAdd ?? []) this.servers.set(virtualServerId(each), each);
    for (const each of change.serversDelete ?? []) {
      if (!this.servers.delete(virtualServerId(each))) throw refused('NFT_ENOENT');
    }
    for (const each of change.hairpinAdd ?? []) this.hairpin.add(each);
    for (const each of change.hairpinDelete ?? []) {
      if (!this.hairpin.delete(each)) throw refused('NFT_ENOENT');
    }
  }
}

function refused(code: string): PlaneError {
  return new PlaneError('the kernel rejected a transaction', { code, next: 'retried' });
}
