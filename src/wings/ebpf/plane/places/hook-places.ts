import type { Attachment, Difference } from '../../../../dataplanes/contract.ts';
import type { LoadedObject } from '../../../../linux/ebpf/load-object.ts';
import type { Pins } from '../pins.ts';
import { Hooks } from './hooks.ts';
import { Ingress } from './ingress.ts';
import { INGRESS } from './programs.ts';

/** The hooks of our programs: sockets of a cgroup, and interfaces. */
export class Places {
  readonly #hooks: Hooks;
  readonly #ingress: Ingress;
  #loaded: LoadedObject;

  constructor(parts: {
    readonly pins: Pins;
    readonly cgroupPath: string;
    readonly interfaces: () => readonly number[];
    readonly loaded: LoadedObject;
  }) {
    const { pins, cgroupPath, interfaces, loaded } = parts;
    this.#loaded = loaded;
    this.#hooks = new Hooks({ pins, cgroupPath, programs: loaded.programs });
    this.#ingress = new Ingress({ pins, interfaces, program: loaded.programs.get(INGRESS) });
  }

  /** Gives the differences, without a write. */
  differences(): Difference[] {
    return [...this.#hooks.differences(), ...this.#ingress.differences()];
  }

  /** `nameOf` returns the name of an interface for people. */
  attachments(nameOf: (ifindex: number) => string): Attachment[] {
    const interfaces = [...this.#ingress.attached()].map(
      ([ifindex, isAttached]): Attachment => ({ place: 'tc', name: nameOf(ifindex), isAttached }),
    );
    return [...this.#hooks.attachments(), ...interfaces];
  }

  /** Programs of ours that others have attached. */
  strays(): Difference[] {
    return [...this.#hooks.strays(), ...this.#ingress.strays()];
  }

  /** Repairs the differences, and gives them. */
  async repair(): Promise<Difference[]> {
    return [...this.#hooks.repair(), ...(await this.#ingress.repair())];
  }

  /** The interfaces of the machine have changed: new ones get the program, those that went lose it. */
  async followInterfaces(): Promise<void> {
    await this.#ingress.follow();
  }

  /** The same programs on other maps. `repair` puts them in place, each in one step. */
  use(loaded: LoadedObject): void {
    for (const program of this.#loaded.programs.values()) program.close();
    this.#loaded = loaded;
    this.#hooks.use(loaded.programs);
    this.#ingress.use(loaded.programs.get(INGRESS));
  }

  close(): void {
    this.#hooks.close();
    this.#ingress.close();
    for (const program of this.#loaded.programs.values()) program.close();
  }
}
