/** The addresses that the machine has at present, on any of its links. */
export interface MachineAddresses {
  /**
   * Tells all addresses soon after the start, and again all of them after each change, until the
   * signal is aborted; resolves then.
   */
  run(onChange: (addresses: readonly string[]) => void, signal: AbortSignal): Promise<void>;
}
