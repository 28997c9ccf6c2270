import { closeSync, openSync, statSync } from 'node:fs';
import { type Attachment, type Difference, PlaneError } from '../../../../dataplanes/contract.ts';
import { attachCgroup, type BpfLink } from '../../../../linux/ebpf/bpf-link.ts';
import type { BpfProgram } from '../../../../linux/ebpf/bpf-program.ts';
import type { Pins } from '../pins.ts';
import { attachTypeOf, HOOK_NAMES, type HookName, hookText } from './hook-names.ts';
import { SamePrograms } from './looks-like-ours.ts';
import { detachStrays, type StraySearch, strays } from './strays.ts';

/** By the names that they have in bpf/. */
export type Programs = ReadonlyMap<string, BpfProgram>;

type State = 'right' | 'missing' | 'different';

/** A difference, and how it is repaired. */
interface Flaw {
  readonly name: HookName;
  readonly state: Exclude<State, 'right'>;
  readonly link: BpfLink | undefined;
}

/**
 * The programs at the sockets of a cgroup. Existing links that run our programs on our maps are
 * kept, so that a restart changes nothing.
 */
export class Hooks {
  readonly #pins: Pins;
  readonly #cgroupPath: string;
  readonly #links = new Map<HookName, BpfLink>();
  readonly #same = new SamePrograms();
  #programs: Programs;

  constructor(parts: {
    readonly pins: Pins;
    readonly cgroupPath: string;
    readonly programs: Programs;
  }) {
    this.#pins = parts.pins;
    this.#cgroupPath = parts.cgroupPath;
    this.#programs = parts.programs;
  }

  /** Gives the differences, without a write. */
  differences(): Difference[] {
    return this.#flaws().map(({ name, state }) => ({ kind: state, object: hookText(name) }));
  }

  attachments(): Attachment[] {
    const missing = new Set(
      this.#flaws().flatMap(({ name, state }) => (state === 'missing' ? [name] : [])),
    );
    return HOOK_NAMES.map((name) => ({ place: 'cgroup', name, isAttached: !missing.has(name) }));
  }

  /**
   * Our programs that other processes have attached. Not for every poll: it reads all links of the
   * machine.
   */
  strays(): Difference[] {
    this.#flaws();
    return strays(this.#search());
  }

  /** Repairs the differences, and gives them. */
  repair(): Difference[] {
    const flaws = this.#flaws();
    const foreign = detachStrays(this.#search());
    for (const flaw of flaws) this.#repair(flaw);
    return [
      ...foreign,
      ...flaws.map(({ name, state }) => ({ kind: state, object: hookText(name) })),
    ];
  }

  /** The same programs on other maps. `repair` puts them in place, each in one step for a socket. */
  use(programs: Programs): void {
    this.#programs = programs;
    this.#same.forget();
  }

  close(): void {
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  #search(): StraySearch {
    const kept = new Set([...this.#links.values()].map((link) => link.info().id));
    return { cgroupPath: this.#cgroupPath, kept };
  }

  #flaws(): Flaw[] {
    const cgroupId = idOfCgroup(this.#cgroupPath);
    return HOOK_NAMES.flatMap((name) => {
      const link = this.#links.get(name) ?? this.#pins.link(name);
      if (link) this.#links.set(name, link);
      const state = link ? this.#stateOf(name, link, cgroupId) : 'missing';
      return state === 'right' ? [] : [{ name, state, link }];
    });
  }

  #stateOf(name: HookName, link: BpfLink, cgroupId: bigint): State {
    const { target, programId } = link.info();
    // Detaching a program leaves a link that is attached to nothing.
    if (target.kind !== 'cgroup' || target.cgroupId !== cgroupId) return 'missing';
    if (!this.#pins.hasLink(name)) return 'missing';
    return this.#same.isSame(programId, this.#program(name)) ? 'right' : 'different';
  }

  #repair({ name, state, link }: Flaw): void {
    const program = this.#program(name);
    if (state === 'different') {
      link?.update(program);
      return;
    }
    const fresh = this.#attach(name, program);
    link?.close();
    this.#links.set(name, fresh);
    this.#pins.pinLink(name, fresh);
  }

  #attach(name: HookName, program: BpfProgram): BpfLink {
    const cgroupFd = openSync(this.#cgroupPath, 'r');
    try {
      return attachCgroup(program, { cgroupFd, attachType: attachTypeOf(name) });
    } finally {
      closeSync(cgroupFd);
    }
  }

  #program(name: HookName): BpfProgram {
    const program = this.#programs.get(name);
    if (program === undefined) throw new TypeError(`the object has no program ${name}`);
    return program;
  }
}

function idOfCgroup(path: string): bigint {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found) return found.ino;
  throw new PlaneError(`cgroup ${path} does not exist`, {
    code: 'CGROUP_MISSING',
    next: 'set fairlead.cgroup to a cgroup v2 folder, or leave it empty for the root cgroup',
  });
}
