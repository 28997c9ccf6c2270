import type { EndpointCount } from '../../dataplanes/contract.ts';
import { formatTextTable } from '../text-table.ts';
import { heads } from './words.ts';

const WHAT = 'new connections to each endpoint since it was written to the kernel';

/** The busiest first. */
export function countersView(counts: readonly EndpointCount[]): string {
  const sorted = [...counts].sort((a, b) => b.connections - a.connections);
  const rows = sorted.map(({ service, endpoint, connections }) => [
    connections.toLocaleString('en-US'),
    endpoint,
    service,
  ]);
  return `${WHAT}\n\n${formatTextTable([heads('CONNECTIONS', 'ENDPOINT', 'SERVICE'), ...rows])}`;
}
