import type { FrontendOwners } from '../../flows/owners.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import { TCP_CLOSE_WAIT, TCP_SYN_RECV } from '../../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import type { Tally } from './tally.ts';

/** Counts every live flow of the Services: one pass over conntrack. */
export async function sweep(
  conntrack: Pick<Conntrack, 'flows'>,
  { owners, tally }: { readonly owners: FrontendOwners; readonly tally: Tally },
  signal: AbortSignal,
): Promise<void> {
  for await (const flows of conntrack.flows(owners, signal)) {
    for (const flow of flows) if (isLive(flow)) tally.add(flow);
  }
}

/**
 * Of TCP from the endpoint's first answer to the end of the second side: conntrack keeps an entry for
 * two minutes longer. Of other protocols for as long as it has one.
 */
function isLive({ tcpState }: Flow): boolean {
  return tcpState === undefined || (tcpState >= TCP_SYN_RECV && tcpState <= TCP_CLOSE_WAIT);
}
