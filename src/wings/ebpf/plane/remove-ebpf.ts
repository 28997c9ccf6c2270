import { setImmediate } from 'node:timers/promises';
import type { Holding } from '../../../dataplanes/contract.ts';
import type { HooksOptions } from './ebpf-options.ts';
import { Pins } from './pins.ts';
import { detachStrays, ingressStrays, strays } from './places/strays.ts';

type RemovalOptions = Pick<HooksOptions, 'pinFolder' | 'findCgroup' | 'releasePins'>;

/** Detaches every program and deletes every pin, also those of another process or version. */
export async function removeEverything(options: RemovalOptions): Promise<void> {
  const pins = new Pins(options.pinFolder);
  for (const name of pins.linkNames()) {
    const link = pins.link(name);
    link?.detach();
    link?.close();
    // Each takes the kernel some ten milliseconds.
    await setImmediate();
  }
  const cgroupPath = options.findCgroup();
  if (cgroupPath !== undefined) detachStrays({ cgroupPath, kept: new Set() });
  ingressStrays(new Set(), (link) => link.detach());
  pins.removeAll();
  options.releasePins();
}

/** What `removeEverything` would detach and delete. */
export function countEverything(options: RemovalOptions): readonly Holding[] {
  const cgroupPath = options.findCgroup();
  const none = new Set<number>();
  const atSockets = cgroupPath === undefined ? [] : strays({ cgroupPath, kept: none });
  const atInterfaces = ingressStrays(none, () => undefined);
  return [
    { what: 'programs' as const, count: atSockets.length + atInterfaces.length },
    { what: 'maps' as const, count: new Pins(options.pinFolder).mapCount() },
  ].filter(({ count }) => count > 0);
}
