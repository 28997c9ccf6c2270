/** The times of client-go's reflector. */
export const REFLECTOR_BACKOFF = {
  firstMs: 800,
  mostMs: 30_000,
  factor: 2,
  forgetAfterMs: 120_000,
} as const;
