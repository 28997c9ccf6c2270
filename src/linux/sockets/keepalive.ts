import {
  SO_KEEPALIVE,
  SOL_SOCKET,
  SOL_TCP,
  TCP_KEEPCNT,
  TCP_KEEPIDLE,
  TCP_KEEPINTVL,
} from './socket-constants.ts';
import type { SocketOptions } from './socket-options.ts';

/** A peer that is gone without a word is noticed after 300 s + 4 * 30 s. */
const IDLE_SECONDS = 300;
const INTERVAL_SECONDS = 30;
const PROBES = 4;

/** Lets the kernel probe an idle peer. Returns 0 or the errno. */
export function setKeepalive(options: SocketOptions, fd: number): number {
  return (
    options.setNumber(fd, { level: SOL_TCP, name: TCP_KEEPIDLE }, IDLE_SECONDS) ||
    options.setNumber(fd, { level: SOL_TCP, name: TCP_KEEPINTVL }, INTERVAL_SECONDS) ||
    options.setNumber(fd, { level: SOL_TCP, name: TCP_KEEPCNT }, PROBES) ||
    options.setNumber(fd, { level: SOL_SOCKET, name: SO_KEEPALIVE }, 1)
  );
}
