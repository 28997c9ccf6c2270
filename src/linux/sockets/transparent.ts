import { IP_TRANSPARENT, IPV6_TRANSPARENT, SOL_IP, SOL_IPV6 } from './socket-constants.ts';
import type { SocketOptions } from './socket-options.ts';

/**
 * Marks the socket as one of ours, and lets it use any source address. Returns 0 or the
 * errno: EPERM without CAP_NET_ADMIN.
 */
export function setTransparent(options: SocketOptions, fd: number, isIPv6: boolean): number {
  const option = isIPv6
    ? { level: SOL_IPV6, name: IPV6_TRANSPARENT }
    : { level: SOL_IP, name: IP_TRANSPARENT };
  return options.setNumber(fd, option, 1);
}
