import type { MachineAddresses } from '../../agent/machine-addresses.ts';
import { machineAddresses } from '../../linux/route/watch-addresses.ts';

/** The addresses of the machine, told to one and remembered for all. */
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
