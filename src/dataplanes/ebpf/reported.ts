/** What was found changed since the last inspection, and the callback that reports it. */
export class Reported {
  hooks = false;
  maps = false;
  #onDrift: ((what: string) => void) | undefined;

  /** Before there is a watch nothing is reported; the next inspection reads it all the same. */
  reportTo(onDrift: (what: string) => void): void {
    this.#onDrift = onDrift;
  }

  report(where: 'hooks' | 'maps', what: string): void {
    this[where] = true;
    this.#onDrift?.(what);
  }

  /** Gives what an inspection that begins now has to read. */
  take(): { readonly hooks: boolean; readonly maps: boolean } {
    const { hooks, maps } = this;
    this.hooks = false;
    this.maps = false;
    return { hooks, maps };
  }

  noteEverything(): void {
    this.hooks = true;
    this.maps = true;
  }
}
