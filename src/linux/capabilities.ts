import { readFileSync } from 'node:fs';

/** linux/capability.h: those that some part of Fairlead asks for. */
const NUMBERS = { NET_ADMIN: 12, NET_RAW: 13, SYS_ADMIN: 21, PERFMON: 38, BPF: 39 } as const;

export type Capability = keyof typeof NUMBERS;

/** Effective capabilities of this process. */
export function effectiveCapabilities(): ReadonlySet<Capability> {
  return capabilitiesIn(readFileSync('/proc/self/status', 'utf8'));
}

/** From the text of /proc/PID/status. */
export function capabilitiesIn(status: string): ReadonlySet<Capability> {
  const digits = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  if (digits === undefined) throw new TypeError('/proc/self/status has no CapEff');
  const bits = BigInt(`0x${digits}`);
  const names = Object.keys(NUMBERS) as Capability[];
  return new Set(names.filter((name) => ((bits >> BigInt(NUMBERS[name])) & 1n) === 1n));
}
