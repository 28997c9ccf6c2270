/**
 * The schedulers of the kernel. `src/forwarding/scheduler.ts` has what an annotation may say of
 * each; src/wings/ipvs/ipvs-pages.test.ts compares the two lists.
 */
export const IPVS_SCHEDULERS: readonly string[] = [
  'rr',
  'wrr',
  'lc',
  'wlc',
  'lblc',
  'lblcr',
  'dh',
  'sh',
  'mh',
  'sed',
  'nq',
  'fo',
  'ovf',
  'twos',
];
