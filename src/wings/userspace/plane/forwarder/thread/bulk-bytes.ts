/**
 * From so many bytes on a stream's buffers are bounded: short connections pay for no option. Until
 * then no more is received at once: one large read makes the kernel grow the receive buffer to a
 * megabyte and offer all of it to the sender.
 */
export const BULK_BYTES = 16 * 1024;
