/** A violated invariant. */
export class BrokenInvariant extends Error {}

/** More is kept than there is to keep. */
export class MemoryGrowth extends Error {}
