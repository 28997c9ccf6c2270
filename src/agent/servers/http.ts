import { type ConnectionOptions, HttpConnection } from './http-connection.ts';
import { type OpenServer, openServer, type Place } from './open-server.ts';

/**
 * An HTTP/1.1 server without `node:http`, which handles all pipelined requests of one read before
 * anything else runs: docs/decisions/0023-health-server.md. Rejects with the error of Node when it
 * cannot listen.
 */
export async function openHttpServer(
  place: Place,
  options: ConnectionOptions,
): Promise<OpenServer> {
  return await openServer(place, (socket) => new HttpConnection(socket, options).serve());
}
