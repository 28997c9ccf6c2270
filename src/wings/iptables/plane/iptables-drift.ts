import type { NftEvent } from '../../../linux/nftables/nftables-events.ts';
import { FORWARD, isRowChain, MARK_MASQUERADE, POSTROUTING } from './chain-names.ts';
import { ALL_JUMPS, PRESENT_CHAINS } from './iptables-fixed-parts.ts';

const TABLES = new Set(['nat', 'filter', 'mangle']);
const OWN_CHAINS = new Set([
  ...PRESENT_CHAINS.map(({ table, name }) => `${table} ${name}`),
  `nat ${MARK_MASQUERADE}`,
  `nat ${POSTROUTING}`,
  `filter ${FORWARD}`,
]);
const BASE_CHAINS = new Set(ALL_JUMPS.map(({ table, chain }) => `${table} ${chain}`));

/**
 * Whether an event of the nft backend may be about our rules. Other processes have rules of their own in the base chains, so there only a deleted rule may be
 * one of ours; an event of the base chain itself may be a changed policy.
 */
export function concernsUs(event: NftEvent): boolean {
  const isOurFamily = event.family === 'ip' || event.family === 'ip6';
  if (!isOurFamily || !TABLES.has(event.table)) return false;
  if (event.kind === 'table') return event.change === 'deleted';
  const chain = `${event.table} ${event.name}`;
  if (OWN_CHAINS.has(chain)) return true;
  if (event.table === 'nat' && isRowChain(event.name)) return true;
  if (!BASE_CHAINS.has(chain)) return false;
  return event.kind === 'chain' || event.change === 'deleted';
}
