import http from 'node:http';
import { type Destination, dialTcp, type Origin } from '../host/sockets.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

const HTTP_DEADLINE_MS = 5_000;

/** One HTTP request from another namespace, on a connection of its own. */
export async function httpGet(
  origin: Origin,
  to: Destination & { readonly path: string; readonly deadlineMs?: number },
): Promise<HttpAnswer> {
  return await new Promise<HttpAnswer>((resolve, reject) => {
    const request = http.get(
      {
        host: to.address,
        port: to.port,
        path: to.path,
        createConnection: () => dialTcp(origin, to),
        signal: AbortSignal.timeout(to.deadlineMs ?? HTTP_DEADLINE_MS),
        headers: { connection: 'close' },
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      },
    );
    request.on('error', reject);
  });
}
