import { type ConnectionOptions, HttpConnection } from './http-connection.ts';
import { type OpenServer, openServer, type Place } from './open-server.ts';

/**
 * Answers HTTP/1.1 at a place. Not by `node:http`, which answers all requests that one read has
 * brought before it lets anything else run: docs/decisions/0023-health-server.md. Rejects with the
 * error of Node when the place cannot be had.
 */
export async function openHttpServer(
  place: Place,
  options: ConnectionOptions,
): Promise<OpenServer> {
  return await openServer(place, (socket) => new HttpConnection(socket, options).serve());
}
