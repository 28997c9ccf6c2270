/** From so many bytes on a stream's buffers are bounded: short connections pay for no option. */
export const BULK_BYTES = 128 * 1024;
