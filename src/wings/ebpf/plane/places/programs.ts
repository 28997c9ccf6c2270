import type { BpfObject } from '../../../../linux/ebpf/bpf-object.ts';
import { KernelTypes } from '../../../../linux/ebpf/kernel-types.ts';
import { type LoadedObject, loadObject } from '../../../../linux/ebpf/load-object.ts';
import type { BpfMap } from '../../../../linux/ebpf/map.ts';
import { HOOK_NAMES } from './hook-names.ts';

/** The program that meets packets where they come in. */
export const INGRESS = 'ingress';

export interface Objects {
  readonly sockets: BpfObject;
  /** Undefined: packets are not met. */
  readonly packets: BpfObject | undefined;
}

/** All programs of a mode, with these maps and new ones for those that are not given. */
export function loadPrograms(
  { sockets, packets }: Objects,
  shared: { readonly maps: ReadonlyMap<string, BpfMap> },
): LoadedObject {
  const kernel = new KernelTypes();
  const programs = HOOK_NAMES.map((name) => ({ name }));
  const atSockets = loadObject(sockets, { ...shared, kernel, programs });
  if (packets === undefined) return atSockets;
  try {
    const atPackets = loadObject(packets, {
      maps: atSockets.maps,
      kernel,
      programs: [{ name: INGRESS }],
    });
    return {
      maps: atSockets.maps,
      programs: new Map([...atSockets.programs, ...atPackets.programs]),
      close: () => {
        atPackets.close();
        atSockets.close();
      },
    };
  } catch (error) {
    atSockets.close();
    throw error;
  }
}
