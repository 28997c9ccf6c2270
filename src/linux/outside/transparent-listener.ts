import { closedOnError } from '../sockets/descriptors.ts';
import { type Listener, openListener } from '../sockets/listener.ts';
import { SocketError } from '../sockets/socket-error.ts';
import { SocketOptions } from '../sockets/socket-options.ts';
import { setTransparent } from '../sockets/transparent.ts';

/** A TCP listener that a rule can give connections to any address (tproxy). Takes CAP_NET_ADMIN. */
export function openTransparentListener(address: string, port = 0): Listener {
  const listener = openListener(address, port);
  return closedOnError(listener.fd, () => {
    const failed = setTransparent(new SocketOptions(), listener.fd, address.includes(':'));
    if (failed !== 0) throw new SocketError('make a listener transparent', failed);
    return listener;
  });
}
