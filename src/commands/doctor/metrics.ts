import http from 'node:http';
import { buildConfig } from '../../config/load.ts';

const DEADLINE_MS = 5000;

/** The page of the metrics server of the agent with this configuration. */
export async function readMetrics(configuration: string | undefined): Promise<string> {
  if (configuration === undefined) return '# no agent answers\n';
  const file = { path: 'configuration of the agent', text: configuration };
  const { ip: listensOn, port } = buildConfig(new Map(), file).settings.metricsServer;
  const host = isEverywhere(listensOn) ? 'localhost' : listensOn;
  return await get({ host, port });
}

function isEverywhere(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}

async function get(server: { readonly host: string; readonly port: number }): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const request = http.get({ ...server, path: '/metrics', signal, agent: false }, resolve);
  request.on('error', reject);
  const chunks: Buffer[] = [];
  for await (const chunk of (await promise) as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
