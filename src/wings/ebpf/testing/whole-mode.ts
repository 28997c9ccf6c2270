import { join } from 'node:path';
import { ComposedPlane } from '../../../dataplanes/composition.ts';
import type { DataPlane } from '../../../dataplanes/contract.ts';
import { compiledProgram } from '../../../linux/ebpf/testing/compiled-program.ts';
import { NFTABLES_PART } from '../../../modes/nftables.ts';
import { PACKET_HOOKS_PART } from '../hooks-part.ts';

/** Mode tc-ebpf as it is run, and its two parts to inspect. */
export interface WholeMode {
  readonly plane: DataPlane;
  readonly front: DataPlane;
  readonly behind: DataPlane;
}

export function ebpfSettings(places: { readonly cgroup: string; readonly pins: string }) {
  return { cgroupPath: places.cgroup, pinFolder: join(places.pins, 'fairlead') };
}

export function wholeMode(places: { readonly cgroup: string; readonly pins: string }): WholeMode {
  // Compiles them if they are missing or stale.
  for (const name of ['sock', 'tc'] as const) compiledProgram(name);
  const front = PACKET_HOOKS_PART.open({ ebpf: ebpfSettings(places) });
  const behind = NFTABLES_PART.open({});
  return { front, behind, plane: new ComposedPlane({ mode: 'tc-ebpf', front, behind }) };
}
