import { spawnSync } from 'node:child_process';

/** A reason to skip a test, or false: for the option `skip` of a suite. */
export const WITHOUT_IPSET =
  spawnSync('ipset', ['list', '-name']).status === 0 ? false : 'the kernel has no ipset';
