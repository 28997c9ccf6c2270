import type { AssembledProgram } from './assemble.ts';
import type { Btf } from './btf.ts';
import { BpfError } from './errors.ts';
import type { KernelTypes } from './kernel-types.ts';

export function coreRelocate(
  program: AssembledProgram,
  _types: { readonly local: Btf; readonly kernel: KernelTypes },
): void {
  if (program.coreRelocations.length > 0) throw new BpfError('BPF_FAILED', 'not yet');
}
