import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataPlane, Drift, InspectionDepth } from '../../../src/dataplanes/contract.ts';
import type { Forwarding } from '../../../src/forwarding/model.ts';
import type { OpenMode } from '../../../src/modes/mode.ts';
import { bring } from '../../../src/wings/ebpf/plane/testing/bring.ts';
import type { ForwarderSurroundings } from '../../../src/wings/userspace/forwarder-part.ts';
import type { ForwarderReport } from '../../../src/wings/userspace/plane/forwarder-report.ts';
import { USERSPACE } from '../../../src/wings/userspace/userspace-mode.ts';
import type { ForwarderPage } from '../../../src/wings/userspace/userspace-status-words.ts';

/** Mode userspace as the agent runs it: drift leads to an inspection. */
export class WholeUserspace implements AsyncDisposable {
  readonly plane: DataPlane;
  readonly #opened: OpenMode;
  readonly warnings: string[] = [];
  readonly drifts: string[] = [];
  rows: readonly Forwarding[] = [];
  readonly #stop = new AbortController();
  #busy: Promise<unknown> = Promise.resolve();
  #watch: Promise<void> = Promise.resolve();

  constructor(around: ForwarderSurroundings) {
    this.#opened = USERSPACE.open({
      userspace: { threads: 1 },
      onWarning: (message) => this.warnings.push(message),
      ...around,
    });
    this.plane = this.#opened.plane;
  }

  async start(rows: readonly Forwarding[]): Promise<this> {
    this.rows = rows;
    await this.inspect();
    this.#watch = this.plane.watch((drift) => this.#take(drift), this.#stop.signal);
    return this;
  }

  /** One call at a time, as the contract demands. */
  async inspect(depth: InspectionDepth = 'everything'): Promise<void> {
    const inspection = this.#busy.then(() => bring(this.plane, this.rows, { depth }));
    this.#busy = inspection.then(
      () => undefined,
      () => undefined,
    );
    await inspection;
  }

  /** The end of the agent, with a signal that it can handle. */
  async end(): Promise<void> {
    await this.crash();
    await this.plane.release?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** Without `release`, as after kill -9, but for the connections to the forwarder. */
  async crash(): Promise<void> {
    this.#stop.abort();
    await this.#watch;
    await this.#busy;
  }

  async pid(): Promise<number | undefined> {
    return (await this.report())?.process?.pid;
  }

  /** As `fairlead status` has it. */
  async report(): Promise<ForwarderReport | undefined> {
    const fields = await this.#opened.statusFields?.(0);
    return (fields as Pick<ForwarderPage, 'forwarder'> | undefined)?.forwarder;
  }

  /** Where new connections go. */
  async serves(): Promise<'forwarder' | 'kernel'> {
    const attached = (await this.plane.read('attachments')) ?? [];
    const listeners = attached.find(({ name }) => name === 'listeners IPv4');
    return listeners?.isAttached ? 'forwarder' : 'kernel';
  }

  #take({ what }: Drift): void {
    this.drifts.push(what);
    void this.inspect('reported').catch((error: unknown) => this.warnings.push(String(error)));
  }
}

/** A run folder whose path is short enough for a socket. */
export function ownRunFolder(): { readonly path: string; leave(): void } {
  const path = mkdtempSync(join(tmpdir(), 'fl-'));
  return { path, leave: () => rmSync(path, { recursive: true, force: true }) };
}
