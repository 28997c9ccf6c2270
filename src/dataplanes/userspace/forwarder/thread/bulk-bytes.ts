/**
 * From so many bytes on a stream's buffers are bounded: short connections pay for no option. Less
 * than the first window, because the kernel lets the buffer grow when a whole one was read: on
 * loopback to more than a megabyte at once.
 */
export const BULK_BYTES = 16 * 1024;
