import { setImmediate } from 'node:timers/promises';
import type { Difference } from '../../../../dataplanes/contract.ts';
import { BpfError } from '../../../../linux/ebpf/bpf-error.ts';
import { attachTcx, type BpfLink } from '../../../../linux/ebpf/bpf-link.ts';
import type { BpfProgram } from '../../../../linux/ebpf/bpf-program.ts';
import { programsOnDevice } from '../../../../linux/ebpf/enumerate.ts';
import type { Pins } from '../pins.ts';
import { SamePrograms } from './looks-like-ours.ts';
import { INGRESS } from './programs.ts';
import { ingressStrays, ingressText, unlessGone } from './strays.ts';

type State = 'right' | 'missing' | 'different';

interface Unattached {
  readonly ifindex: number;
  /** A detached link. */
  readonly link: BpfLink | undefined;
}

interface Flaw extends Unattached {
  readonly state: Exclude<State, 'right'>;
}

const PIN = new RegExp(`^${INGRESS}_(\\d+)$`);

function pinName(ifindex: number): string {
  return `${INGRESS}_${ifindex}`;
}

/**
 * The program at the interfaces of the machine. Existing links that run our program on our maps are
 * kept; those of interfaces that are gone or not served are closed.
 */
export class Ingress {
  readonly #pins: Pins;
  readonly #interfaces: () => readonly number[];
  readonly #links = new Map<number, BpfLink>();
  readonly #same = new SamePrograms();
  /** Interfaces that get the program in a moment. */
  readonly #awaited = new Set<number>();
  /**
   * Interfaces where the kernel rejected the program, and why: one of them must not affect the
   * others.
   */
  readonly #rejected = new Map<number, BpfError>();
  /** Undefined: no interface is to have one. */
  #program: BpfProgram | undefined;

  constructor(parts: {
    readonly pins: Pins;
    /** Those that are to be served now. */
    readonly interfaces: () => readonly number[];
    readonly program: BpfProgram | undefined;
  }) {
    this.#pins = parts.pins;
    this.#interfaces = parts.interfaces;
    this.#program = parts.program;
  }

  differences(): Difference[] {
    return [
      ...this.#flaws().map(({ ifindex, state }) => ({ kind: state, object: ingressText(ifindex) })),
      ...this.#superfluous().map(foreign),
    ];
  }

  /** By number; none where no interface is to have a program. */
  attached(): ReadonlyMap<number, boolean> {
    this.#flaws();
    const isAttached = (ifindex: number): boolean => {
      const link = this.#links.get(ifindex);
      return link !== undefined && this.#stateOf(ifindex, link) !== 'missing';
    };
    const wanted = this.#program === undefined ? [] : this.#interfaces();
    return new Map(wanted.map((ifindex) => [ifindex, isAttached(ifindex)]));
  }

  /** Our programs that other processes have attached: no process writes their maps. */
  strays(): Difference[] {
    return ingressStrays(this.#keptIds(), () => undefined);
  }

  async repair(): Promise<Difference[]> {
    this.#rejected.clear();
    const flaws = this.#flaws();
    const superfluous = this.#superfluous();
    for (const ifindex of superfluous) this.#letGo(ifindex);
    const stray = ingressStrays(this.#keptIds(), (link) => link.detach());
    const missing = flaws.filter((flaw) => !this.#replace(flaw));
    await this.#attachInTurn(missing);
    return [
      ...stray,
      ...superfluous.map(foreign),
      ...flaws.map(({ ifindex, state }) => ({ kind: state, object: this.#textOf(ifindex) })),
    ];
  }

  #textOf(ifindex: number): string {
    const rejected = this.#rejected.get(ifindex);
    return `${ingressText(ifindex)}${rejected ? `: ${rejected.message}` : ''}`;
  }

  /**
   * Interfaces were added or removed. A pod that starts causes a dozen events, so known interfaces
   * are not inspected. One that lost its program is left to the next poll: another process detached
   * it, which must be reported.
   */
  async follow(): Promise<void> {
    if (this.#program === undefined) return;
    const wanted = new Set(this.#interfaces());
    for (const ifindex of [...this.#links.keys()]) if (!wanted.has(ifindex)) this.#letGo(ifindex);
    const fresh = [...wanted].filter((ifindex) => !this.#links.has(ifindex));
    await this.#attachInTurn(fresh.map((ifindex) => ({ ifindex, link: undefined })));
  }

  /** The same program on other maps; `repair` puts it in place. */
  use(program: BpfProgram | undefined): void {
    this.#program = program;
    this.#same.forget();
  }

  close(): void {
    this.#program = undefined;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  #flaws(): Flaw[] {
    if (this.#program === undefined) return [];
    return this.#interfaces().flatMap((ifindex) => {
      const link = this.#links.get(ifindex) ?? this.#pins.link(pinName(ifindex));
      if (link) this.#links.set(ifindex, link);
      const state = link ? this.#stateOf(ifindex, link) : 'missing';
      if (state === 'right' || (state === 'missing' && !this.#isMissed(ifindex))) return [];
      return [{ ifindex, state, link }];
    });
  }

  /**
   * A removed interface detaches the program; soon it is no longer requested. A rejected one is
   * retried by the next inspection.
   */
  #isMissed(ifindex: number): boolean {
    if (this.#awaited.has(ifindex) || this.#rejected.has(ifindex)) return false;
    return isThere(ifindex);
  }

  #stateOf(ifindex: number, link: BpfLink): State {
    const { target, programId } = link.info();
    // Detaching a program leaves a link that is attached to nothing.
    if (target.kind !== 'tcx' || target.ifindex !== ifindex) return 'missing';
    if (!this.#pins.hasLink(pinName(ifindex))) return 'missing';
    const ours = this.#program;
    return ours && this.#same.isSame(programId, ours) ? 'right' : 'different';
  }

  /** Interfaces that have a link of ours and should not. */
  #superfluous(): number[] {
    const wanted = new Set(this.#program === undefined ? [] : this.#interfaces());
    const all = new Set([...this.#pinnedInterfaces(), ...this.#links.keys()]);
    return [...all].filter((ifindex) => !wanted.has(ifindex)).sort((a, b) => a - b);
  }

  #pinnedInterfaces(): number[] {
    return this.#pins.linkNames().flatMap((name) => {
      const number = PIN.exec(name)?.[1];
      return number === undefined ? [] : [Number(number)];
    });
  }

  #letGo(ifindex: number): void {
    const link = this.#links.get(ifindex) ?? this.#pins.link(pinName(ifindex));
    this.#links.delete(ifindex);
    this.#pins.removeLink(pinName(ifindex));
    // One that was moved into a pod takes the program along.
    link?.detach();
    link?.close();
  }

  /**
   * Attaching a program blocks for some ten milliseconds in the kernel: so yield to the event loop
   * after each.
   */
  async #attachInTurn(missing: readonly Unattached[]): Promise<void> {
    for (const { ifindex } of missing) this.#awaited.add(ifindex);
    try {
      for (const each of missing) {
        // Meanwhile it may have been closed, or attached by another call.
        if (this.#links.get(each.ifindex) === each.link) this.#attach(each);
        this.#awaited.delete(each.ifindex);
        await setImmediate();
      }
    } finally {
      for (const { ifindex } of missing) this.#awaited.delete(ifindex);
    }
  }

  /** Whether that was all it needed. */
  #replace({ state, link }: Flaw): boolean {
    if (state !== 'different' || this.#program === undefined) return false;
    link?.update(this.#program);
    return true;
  }

  #attach({ ifindex, link }: Unattached): void {
    if (this.#program === undefined) return;
    link?.close();
    this.#links.delete(ifindex);
    const fresh = this.#attachIfThere(this.#program, ifindex);
    if (fresh === undefined) return;
    this.#links.set(ifindex, fresh);
    this.#pins.pinLink(pinName(ifindex), fresh);
  }

  /** Undefined: the interface is gone meanwhile, or the kernel rejects the program there. */
  #attachIfThere(program: BpfProgram, ifindex: number): BpfLink | undefined {
    try {
      return unlessGone(() => attachTcx(program, { ifindex, direction: 'ingress' }));
    } catch (error) {
      if (!(error instanceof BpfError) || error.code === 'BPF_NOT_PERMITTED') throw error;
      this.#rejected.set(ifindex, error);
      return undefined;
    }
  }

  #keptIds(): ReadonlySet<number> {
    const ids = new Set([...this.#links.values()].map((link) => link.info().id));
    for (const ifindex of this.#pinnedInterfaces()) {
      if (this.#links.has(ifindex)) continue;
      const link = this.#pins.link(pinName(ifindex));
      if (link) ids.add(link.info().id);
      link?.close();
    }
    return ids;
  }
}

function foreign(ifindex: number): Difference {
  return { kind: 'foreign', object: ingressText(ifindex) };
}

function isThere(ifindex: number): boolean {
  return unlessGone(() => programsOnDevice(ifindex, 'ingress')) !== undefined;
}
