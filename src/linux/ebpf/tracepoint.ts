import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { BpfError, succeeded } from './bpf-error.ts';
import { BpfLink } from './bpf-link.ts';
import type { BpfProgram } from './bpf-program.ts';
import { type Btf, BtfKind } from './btf.ts';
import type { KernelType, KernelTypes } from './kernel-types.ts';
import { bpf } from './system-call.ts';

const PROGRAM_FD_OFFSET = 8;

/** The type by which the kernel describes the arguments of a tracepoint. */
export function tracepointType(kernel: KernelTypes, name: string): KernelType {
  const [found] = kernel.named(BtfKind.typedef, `btf_trace_${name}`);
  if (found && found.module === undefined) return found;
  throw new BpfError('BPF_KERNEL_LACKS', `this kernel has no tracepoint ${name}`);
}

/** How many arguments a program at this tracepoint gets. */
export function tracepointArguments(kernel: KernelTypes, name: string): number {
  const { btf, typeId } = tracepointType(kernel, name);
  const type = functionBehind(btf, typeId);
  // The first one belongs to the tracepoint itself.
  return btf.count(type) - 1;
}

function functionBehind(btf: Btf, typeId: number): number {
  return btf.resolve(btf.sizeOrType(btf.resolve(typeId)));
}

/** Attaches a program of section `tp_btf/NAME`: its section has named the tracepoint. */
export function attachTracepoint(program: BpfProgram): BpfLink {
  const attr = new Attr().u32(PROGRAM_FD_OFFSET, program.fd);
  const fd = bpf(Command.tracepointOpen, attr);
  return new BpfLink(succeeded(`attach ${program.name} to its tracepoint`, fd));
}
