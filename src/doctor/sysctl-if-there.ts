import { SysctlError } from '../linux/sysctl-error.ts';
import type { Subject } from './subject.ts';

/** Undefined: this kernel has no such setting, or the interface is gone since it was listed. */
export function sysctlIfThere(
  { sysctls }: Pick<Subject, 'sysctls'>,
  name: string,
): string | undefined {
  try {
    return sysctls.read(name);
  } catch (error) {
    if (error instanceof SysctlError && error.code === 'SYSCTL_MISSING') return undefined;
    throw error;
  }
}
