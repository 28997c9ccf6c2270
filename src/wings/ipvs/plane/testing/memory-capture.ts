import { type Drift, type NodeFacts, PlaneError } from '../../../../dataplanes/contract.ts';
import { type VirtualServerKey, virtualServerId } from '../../../../linux/ipvs/ipvs-model.ts';
import type {
  CaptureChange,
  CaptureElements,
  CaptureState,
  CaptureTables,
  Ensured,
} from '../capture/capture-model.ts';
import type { CapturedFrontend } from '../capture/frontend.ts';
import { captureMark } from '../capture/marks.ts';

/** The capture tables in memory: exact as their transactions. A fake for the same reason as IPVS. */
export class MemoryCapture implements CaptureTables {
  captured = new Map<string, CapturedFrontend>();
  servers = new Map<string, VirtualServerKey>();
  rejected = new Map<string, VirtualServerKey>();
  hairpin = new Set<string>();
  tables: CaptureState = 'absent';
  /** Undefined: nothing was captured. */
  mark: number | undefined;
  writeCount = 0;
  isRejected: (change: CaptureChange) => boolean = () => false;

  async hasOtherMark({ masqueradeMark }: NodeFacts): Promise<boolean> {
    return this.mark !== undefined && this.mark !== captureMark(masqueradeMark);
  }

  async ensure({ masqueradeMark }: NodeFacts): Promise<Ensured> {
    this.mark = captureMark(masqueradeMark);
    const isThere = this.tables === 'active';
    this.tables = 'active';
    return { differences: [], differenceCount: 0, writeCount: isThere ? 0 : 1 };
  }

  async diff(): Promise<readonly []> {
    return [];
  }

  async configure({ masqueradeMark }: NodeFacts): Promise<void> {
    this.mark = captureMark(masqueradeMark);
  }

  async write(change: CaptureChange): Promise<void> {
    this.writeCount += 1;
    if (this.isRejected(change)) throw rejection('NFT_ENOMEM');
    const { captured, servers, rejected, hairpin } = this;
    this.captured = new Map(captured);
    this.servers = new Map(servers);
    this.rejected = new Map(rejected);
    this.hairpin = new Set(hairpin);
    try {
      this.#perform(change);
    } catch (error) {
      Object.assign(this, { captured, servers, rejected, hairpin });
      throw error;
    }
  }

  async read(): Promise<CaptureElements> {
    return {
      captured: new Map(this.captured),
      servers: new Map(this.servers),
      rejected: new Map(this.rejected),
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
    this.rejected.clear();
    this.hairpin.clear();
  }

  #perform(change: CaptureChange): void {
    for (const each of change.take ?? []) {
      if (this.captured.has(virtualServerId(each))) throw rejection('NFT_EEXIST');
      this.captured.set(virtualServerId(each), each);
    }
    for (const each of change.retake ?? []) {
      if (!this.captured.has(virtualServerId(each))) throw rejection('NFT_ENOENT');
      this.captured.set(virtualServerId(each), each);
    }
    for (const each of change.pass ?? []) {
      if (!this.captured.delete(virtualServerId(each))) throw rejection('NFT_ENOENT');
    }
    for (const each of change.serversAdd ?? []) this.servers.set(virtualServerId(each), each);
    for (const each of change.serversDelete ?? []) {
      if (!this.servers.delete(virtualServerId(each))) throw rejection('NFT_ENOENT');
    }
    for (const each of change.rejectedAdd ?? []) this.rejected.set(virtualServerId(each), each);
    for (const each of change.rejectedDelete ?? []) {
      if (!this.rejected.delete(virtualServerId(each))) throw rejection('NFT_ENOENT');
    }
    for (const each of change.hairpinAdd ?? []) this.hairpin.add(each);
    for (const each of change.hairpinDelete ?? []) {
      if (!this.hairpin.delete(each)) throw rejection('NFT_ENOENT');
    }
  }
}

function rejection(code: string): PlaneError {
  return new PlaneError('the kernel rejected a transaction', { code, next: 'retried' });
}
