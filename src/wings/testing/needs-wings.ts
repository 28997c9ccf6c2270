import { WINGS } from '../wing-registry.ts';

/** For a test of the core that uses a wing: `test(name, NEEDS_WINGS, …)` is skipped where there is none. */
export const NEEDS_WINGS = { skip: WINGS.length === 0 ? 'this build has no wings' : false };
