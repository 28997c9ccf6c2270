import { openProgramById } from '../../../linux/bpf/enumerate.ts';
import { BpfError } from '../../../linux/bpf/errors.ts';
import type { BpfProgram } from '../../../linux/bpf/program.ts';

/**
 * Undefined: it has gone, or may not be looked at. By its number only who has CAP_SYS_ADMIN may open
 * a program: for others one that may be ours gets the same once more, in one step.
 */
export function openPermitted(programId: number): BpfProgram | undefined {
  try {
    return openProgramById(programId);
  } catch (error) {
    if (error instanceof BpfError && error.code === 'BPF_NOT_PERMITTED') return undefined;
    throw error;
  }
}
