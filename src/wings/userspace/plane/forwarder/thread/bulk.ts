import {
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SOL_SOCKET,
  SOL_TCP,
  TCP_NOTSENT_LOWAT,
  TCP_WINDOW_CLAMP,
} from '../../../../../linux/sockets/constants.ts';
import { MOST_UNSENT_BYTES } from '../../../../../linux/sockets/listener.ts';
import type { SocketOptions } from '../../../../../linux/sockets/options.ts';
import type { Stream } from './pair.ts';

/** The kernel of an endpoint that never reads takes less (tcp_rmem: 6 MB by default). */
const TRUSTED_BYTES = 16 * 1024 * 1024;
/** The kernel doubles them, for its own overhead. */
const BOUNDED_RECEIVE_BYTES = 192 * 1024;
const TRUSTED_RECEIVE_BYTES = 2 * 1024 * 1024;

/** Before Linux 6.11 the window does not follow a fixed buffer. */
const WINDOW = { level: SOL_TCP, name: TCP_WINDOW_CLAMP };

/**
 * Bounds the kernel's buffers of a stream when it gets long. Left alone they grow to megabytes as
 * long as one side sends faster than the other reads. A stream whose other side has read much gets
 * a larger window again, which distant clients need.
 */
export function boundBuffers(options: SocketOptions, stream: Stream): void {
  if (stream.byteCount < TRUSTED_BYTES) {
    stream.boundAtBytes = TRUSTED_BYTES;
    const unsent = { level: SOL_TCP, name: TCP_NOTSENT_LOWAT };
    options.setNumber(stream.to, unsent, MOST_UNSENT_BYTES);
    const received = { level: SOL_SOCKET, name: SO_RCVBUF };
    options.setNumber(stream.from, received, BOUNDED_RECEIVE_BYTES);
    options.setNumber(stream.from, WINDOW, BOUNDED_RECEIVE_BYTES);
    return;
  }
  stream.boundAtBytes = Number.POSITIVE_INFINITY;
  const forced = { level: SOL_SOCKET, name: SO_RCVBUFFORCE };
  const received = { level: SOL_SOCKET, name: SO_RCVBUF };
  if (options.setNumber(stream.from, forced, TRUSTED_RECEIVE_BYTES) !== 0) {
    options.setNumber(stream.from, received, TRUSTED_RECEIVE_BYTES);
  }
  options.setNumber(stream.from, WINDOW, TRUSTED_RECEIVE_BYTES);
}
