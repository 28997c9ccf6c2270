import {
  SO_BUF_LOCK,
  SO_RCVBUF,
  SOL_SOCKET,
  SOL_TCP,
  TCP_NOTSENT_LOWAT,
  TCP_WINDOW_CLAMP,
} from '../../../../linux/sockets/constants.ts';
import { MOST_UNSENT_BYTES } from '../../../../linux/sockets/listener.ts';
import type { SocketOptions } from '../../../../linux/sockets/options.ts';
import type { Stream } from './pair.ts';

/** Most connections are shorter, and keep the kernel's small first buffers. */
export const LONG_BYTES = 64 * 1024;
/** More than the kernel of an endpoint takes whose program never reads (tcp_rmem: 6 MB by default). */
const PROVEN_BYTES = 16 * 1024 * 1024;
const WINDOW_BYTES = 256 * 1024;

const RECEIVE_BUFFER = { level: SOL_SOCKET, name: SO_RCVBUF };
const WINDOW = { level: SOL_TCP, name: TCP_WINDOW_CLAMP };
const UNSENT = { level: SOL_TCP, name: TCP_NOTSENT_LOWAT };
const BUFFER_LOCK = { level: SOL_SOCKET, name: SO_BUF_LOCK };

/**
 * Bounds what the kernel holds for a stream until its reader has proven to read.
 *
 * Bytes that this thread receives fast make the kernel grow the receive buffer, to 6 MB; when the
 * other side then stops reading, as much waits there. So a stream gets a fixed buffer, and the
 * kernel's own sizes only after more than a reader that never reads could have taken.
 */
export function tuneBuffers(options: SocketOptions, stream: Stream): void {
  if (stream.byteCount < PROVEN_BYTES) {
    stream.tuneAtBytes = PROVEN_BYTES;
    options.setNumber(stream.from, RECEIVE_BUFFER, WINDOW_BYTES);
    // The window does not follow a fixed buffer.
    options.setNumber(stream.from, WINDOW, WINDOW_BYTES);
    options.setNumber(stream.to, UNSENT, MOST_UNSENT_BYTES);
    return;
  }
  stream.tuneAtBytes = Number.POSITIVE_INFINITY;
  // Before Linux 5.19 the buffer stays fixed.
  options.setNumber(stream.from, BUFFER_LOCK, 0);
}
