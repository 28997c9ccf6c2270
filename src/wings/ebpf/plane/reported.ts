/** Changes found since the last inspection, and the callback that reports them. */
export class Reported {
  hooks = false;
  maps = false;
  #onDrift: ((what: string) => void) | undefined;

  /** Without a watch nothing is reported; the next inspection reads it anyway. */
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
