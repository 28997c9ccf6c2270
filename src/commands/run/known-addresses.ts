import type { MachineAddresses } from '../../agent/machine-addresses.ts';
import { machineAddresses } from '../../linux/route/watch-addresses.ts';

/** The addresses of the machine: followed once, the last value kept for others. */
export interface KnownAddresses extends MachineAddresses {
  readonly current: readonly string[];
}

export function knownAddresses(): KnownAddresses {
  const watch = machineAddresses();
  let current: readonly string[] = [];
  return {
    get current() {
      return current;
    },
    run: (onChange, signal) =>
      watch.run((addresses) => {
        current = addresses;
        onChange(addresses);
      }, signal),
  };
}
