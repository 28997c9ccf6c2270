import type { Netlink } from '../../linux/netlink/socket.ts';
import type { NftEvent } from '../../linux/nftables/events.ts';
import { type GenerationSources, GenerationWatch } from '../../linux/nftables/generation-watch.ts';
import type { Drift } from '../contract.ts';
import { objectText, watchRuleEvents } from '../shared/rule-events.ts';
import { elementName } from './element-text.ts';
import { MANAGED_SETS, type ManagedSet } from './elements.ts';
import { TABLE_NAME } from './sets.ts';
import type { Suspects } from './suspects.ts';

/** Reports what other processes change in our tables. */
export async function watchDrift(
  of: {
    readonly netlink: Netlink;
    readonly isOurs: (portId: number) => boolean;
    readonly generations: GenerationSources;
    readonly suspects: () => Suspects;
  },
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  const options = {
    netlink: of.netlink,
    isOurs: of.isOurs,
    concerns: ({ table }: NftEvent) => table === TABLE_NAME,
    describe: objectsOf,
    reported: of.suspects,
    losses: new GenerationWatch(of.generations),
  };
  await watchRuleEvents(options, onDrift, signal);
}

function objectsOf(event: NftEvent): string[] {
  if (event.kind !== 'elements') return [objectText(event)];
  const change = event.change === 'new' ? 'added' : 'deleted';
  const set = event.name as ManagedSet;
  if (!MANAGED_SETS.includes(set)) return [`${change} elements of ${event.family} ${event.name}`];
  return event.elements.map(({ key }) => `${change} ${elementName(event.family, set, key)}`);
}
