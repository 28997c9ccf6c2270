import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { LabError } from '../host/errors.ts';

/** Programs that a reader runs in chapters, and the Debian package of each. */
const PACKAGES = {
  bpftool: 'bpftool',
  clang: 'clang libbpf-dev',
  conntrack: 'conntrack',
  dig: 'bind9-dnsutils',
  ipset: 'ipset',
  iptables: 'iptables',
  ipvsadm: 'ipvsadm',
  ping: 'iputils-ping',
  tc: 'iproute2',
  tcpdump: 'tcpdump',
} as const;

export type TourProgram = keyof typeof PACKAGES;

/** Before a lab is started, so that a reader learns all that is missing at once. */
export function assertPrograms(programs: readonly TourProgram[]): void {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => PACKAGES[program]))].join(' ');
  throw new LabError('LAB_TOOL_MISSING', `the chapter runs ${missing.join(', ')}: not installed`, {
    next: `apt-get install --no-install-recommends ${packages}`,
  });
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
