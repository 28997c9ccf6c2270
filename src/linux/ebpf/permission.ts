import { type Capability, effectiveCapabilities } from '../capabilities.ts';
import { BpfError } from './bpf-error.ts';

/** Capabilities for loading programs, and what fails without them. */
const NEEDED: readonly { readonly capability: Capability; readonly purpose: string }[] = [
  { capability: 'BPF', purpose: 'to load maps, BTF and programs' },
  {
    capability: 'PERFMON',
    purpose: 'to load programs that use pointer arithmetic or iterate over sockets',
  },
  { capability: 'NET_ADMIN', purpose: 'to load network programs' },
];

/**
 * Throws with the missing capabilities if this process may not load programs. The kernel itself
 * only returns EPERM, or the verifier log of an unprivileged load.
 */
export function assertMayLoad(held = effectiveCapabilities()): void {
  // All of them were once a part of this one, and the kernel still takes it for each.
  if (held.has('SYS_ADMIN')) return;
  const missing = NEEDED.filter(({ capability }) => !held.has(capability));
  if (missing.length === 0) return;
  const words = missing.map(({ capability, purpose }) => `CAP_${capability} (${purpose})`);
  const names = missing.map(({ capability }) => capability).join(', ');
  throw new BpfError('BPF_NOT_PERMITTED', `this process lacks ${words.join(' and ')}`, {
    next: `add ${names} to the capabilities of the container, as deploy/ebpf does, or of the systemd service`,
  });
}
