import { openProgramById } from '../../../../linux/ebpf/enumerate.ts';
import { BpfError } from '../../../../linux/ebpf/errors.ts';
import type { BpfProgram } from '../../../../linux/ebpf/program.ts';

/**
 * Undefined: it is gone, or must not be opened. Opening a program by its id needs CAP_SYS_ADMIN:
 * without it, one that may be ours is replaced by an equal one in one step.
 */
export function openPermitted(programId: number): BpfProgram | undefined {
  try {
    return openProgramById(programId);
  } catch (error) {
    if (error instanceof BpfError && error.code === 'BPF_NOT_PERMITTED') return undefined;
    throw error;
  }
}
