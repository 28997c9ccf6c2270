import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { LabError } from './errors.ts';
import { hasSctpSockets } from './libc.ts';

/** What not every kernel has, and only some proxies and scenarios need. */
export type KernelPart = 'ipvs' | 'sctp' | 'btf';

const PARTS: Readonly<
  Record<KernelPart, { readonly words: string; readonly isThere: () => boolean }>
> = {
  ipvs: {
    words: 'IPVS',
    // A module that is not loaded yet is loaded by whoever asks for it first.
    isThere: () =>
      existsSync('/proc/net/ip_vs') ||
      existsSync(`/lib/modules/${release()}/kernel/net/netfilter/ipvs`),
  },
  sctp: { words: 'SCTP sockets', isThere: hasSctpSockets },
  btf: { words: 'BTF', isThere: () => existsSync('/sys/kernel/btf/vmlinux') },
};

export function kernelHas(part: KernelPart): boolean {
  return PARTS[part].isThere();
}

/** `the kernel has no SCTP sockets`, for the first part that it lacks. */
export function missingOfKernel(parts: readonly KernelPart[]): string | undefined {
  const missing = parts.find((part) => !kernelHas(part));
  return missing && `the kernel has no ${PARTS[missing].words}`;
}

/** Fails before anything is started that would only fail later, and less clearly. */
export function assertKernelHas(parts: readonly KernelPart[], who: string): void {
  const missing = missingOfKernel(parts);
  if (missing === undefined) return;
  throw new LabError('LAB_TOOL_MISSING', `${who} cannot run: ${missing} (${release()})`, {
    next: 'run the command in a kernel that has it: --kernel uml, or `npm run lab -- kernel shell`',
  });
}
