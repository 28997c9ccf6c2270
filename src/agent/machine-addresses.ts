/** The addresses that the machine has at present, on any of its links. */
export interface MachineAddresses {
  /**
   * Reports all addresses soon after the start, and the full list again after each change, until
   * the signal is aborted; resolves then.
   */
  run(onChange: (addresses: readonly string[]) => void, signal: AbortSignal): Promise<void>;
}
