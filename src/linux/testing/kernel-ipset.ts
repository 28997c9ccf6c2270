import { run } from '../netlink/testing/own-namespace.ts';

/** A reason to skip a test, or false: for the option `skip` of a suite. */
export const WITHOUT_IPSET = hasIpset() ? false : 'the kernel has no ipset';

function hasIpset(): boolean {
  try {
    run(['ipset', 'list', '-name']);
    return true;
  } catch (error) {
    // The program ends with an error where the kernel does not answer.
    if (error instanceof Error) return false;
    throw error;
  }
}
