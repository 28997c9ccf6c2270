import type { Netlink } from '../../linux/netlink/socket.ts';
import { listenToNftables, type NftEvent } from '../../linux/nftables/events.ts';
import type { Drift } from '../contract.ts';
import { ALL_JUMPS, PRESENT_CHAINS } from './fixed-parts.ts';
import { FORWARD, isRowChain, MARK_MASQUERADE, POSTROUTING } from './names.ts';
import type { Suspects } from './suspects.ts';

/** A change is described by its first objects; a flush has thousands. */
const MOST_DESCRIBED = 3;

const TABLES = new Set(['nat', 'filter', 'mangle']);
const OWN_CHAINS = new Set([
  ...PRESENT_CHAINS.map(({ table, name }) => `${table} ${name}`),
  `nat ${MARK_MASQUERADE}`,
  `nat ${POSTROUTING}`,
  `filter ${FORWARD}`,
]);
const BASE_CHAINS = new Set(ALL_JUMPS.map(({ table, chain }) => `${table} ${chain}`));

/** Tells what others change of ours on the nft backend: the kernel says so at once. */
export async function watchEvents(
  of: {
    readonly netlink: Netlink;
    readonly isOurs: (portId: number) => boolean;
    readonly suspects: () => Suspects;
  },
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  using netlink = of.netlink;
  let events: NftEvent[] = [];
  const listener = {
    isOurs: of.isOurs,
    onEvent(event: NftEvent) {
      if (!concernsUs(event)) return;
      of.suspects().note(event);
      events.push(event);
    },
    onCommit(commit: { processId: number; processName: string }) {
      if (events.length === 0) return;
      const what = describe(events);
      events = [];
      const by = { pid: commit.processId, program: commit.processName };
      onDrift({ what, by });
    },
    onOverrun() {
      events = [];
      of.suspects().noteEverything();
      onDrift({ what: 'unknown changes: kernel events were lost (socket buffer overrun)' });
    },
  };
  await listenToNftables(netlink, listener, signal);
}

/**
 * Others have rules of their own in the chains that ours are reached from, so only that one went
 * can mean us; of such a chain itself, that its policy may be another one.
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

function describe(events: readonly NftEvent[]): string {
  const objects = events.map((event) => {
    const change = event.change === 'new' ? 'added' : 'deleted';
    const name = event.kind === 'table' ? '' : ` ${event.name}`;
    const kind = event.kind === 'rule' ? 'rule of chain' : event.kind;
    return `${change} ${kind}${name} of ${event.family} ${event.table}`;
  });
  const shown = objects.slice(0, MOST_DESCRIBED).join(', ');
  const rest = objects.length - MOST_DESCRIBED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}
