import http from 'node:http';
import type { ReceiptFigures } from '../record.ts';

const DEADLINE_MS = 20_000;

/** How long Fairlead's last thousand changes took it, as it says itself (`fairlead status -o json`). */
export async function readReceipts(socketPath: string): Promise<ReceiptFigures> {
  const text = await new Promise<string>((resolve, reject) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const request = http.get({ socketPath, path: '/status', signal }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        body += more;
      });
      response.on('error', reject);
      response.on('end', () => resolve(body));
    });
    request.on('error', reject);
  });
  const { propagation } = JSON.parse(text) as { propagation: { received: ReceiptFigures } };
  return propagation.received;
}
