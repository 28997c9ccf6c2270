import type { Netlink } from '../../linux/netlink/socket.ts';
import type { NftEvent } from '../../linux/nftables/events.ts';
import type { Drift } from '../contract.ts';
import { EVERY_LOSS_COUNTS, objectText, watchRuleEvents } from '../shared/rule-events.ts';
import { ALL_JUMPS, PRESENT_CHAINS } from './fixed-parts.ts';
import { FORWARD, isRowChain, MARK_MASQUERADE, POSTROUTING } from './names.ts';
import type { Suspects } from './suspects.ts';

const TABLES = new Set(['nat', 'filter', 'mangle']);
const OWN_CHAINS = new Set([
  ...PRESENT_CHAINS.map(({ table, name }) => `${table} ${name}`),
  `nat ${MARK_MASQUERADE}`,
  `nat ${POSTROUTING}`,
  `filter ${FORWARD}`,
]);
const BASE_CHAINS = new Set(ALL_JUMPS.map(({ table, chain }) => `${table} ${chain}`));

/** Reports what other processes change of our rules on the nft backend. */
export async function watchEvents(
  of: {
    readonly netlink: Netlink;
    readonly isOurs: (portId: number) => boolean;
    readonly suspects: () => Suspects;
  },
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  const options = {
    netlink: of.netlink,
    isOurs: of.isOurs,
    concerns: concernsUs,
    describe: (event: NftEvent) => [objectText(event)],
    reported: of.suspects,
    // The program of the nft backend commits by sockets of its own.
    losses: EVERY_LOSS_COUNTS,
  };
  await watchRuleEvents(options, onDrift, signal);
}

/**
 * Other processes have rules of their own in the base chains, so there only a deleted rule may be
 * one of ours; an event of the base chain itself may be a changed policy.
 */
function concernsUs(event: Pick<NftEvent, 'change' | 'kind' | 'family' | 'table' | 'name'>) {
  const isOurFamily = event.family === 'ip' || event.family === 'ip6';
  if (!isOurFamily || !TABLES.has(event.table)) return false;
  if (event.kind === 'table') return event.change === 'deleted';
  const chain = `${event.table} ${event.name}`;
  if (OWN_CHAINS.has(chain)) return true;
  if (event.table === 'nat' && isRowChain(event.name)) return true;
  if (!BASE_CHAINS.has(chain)) return false;
  return event.kind === 'chain' || event.change === 'deleted';
}
