import { existsSync } from 'node:fs';
import { run } from '../../netlink/testing/own-namespace.ts';

/** A reason to skip a test, or false: for the option `skip` of a suite. */
export const WITHOUT_IPVS = existsSync('/proc/net/ip_vs') ? false : 'the kernel has no IPVS';

/** The lines that ipvsadm prints for all virtual servers, in words of one space. */
export function ipvsadmLines(): string[] {
  return run(['ipvsadm', '-Sn'])
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}
