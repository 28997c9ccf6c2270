import type { DropWatch, End } from '../../linux/drops/drop.ts';
import { BpfError } from '../../linux/ebpf/bpf-error.ts';
import { watchDrops } from '../../linux/ebpf/drops/watch-drops.ts';
import { assertMayLoad } from '../../linux/ebpf/permission.ts';
import { DROP_PROGRAMS, readPrograms } from '../../linux/ebpf/shipped-programs.ts';

/** Reads the packets that the kernel drops until the signal is aborted, or says in words why it cannot. */
export function watchShippedDrops(ends: readonly End[], signal: AbortSignal): DropWatch | string {
  try {
    assertMayLoad();
    return watchDrops({ object: readPrograms(DROP_PROGRAMS), ends }, signal);
  } catch (error) {
    // All else of the answer is right without them.
    if (error instanceof BpfError) return error.message;
    throw error;
  }
}
