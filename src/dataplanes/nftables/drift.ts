import type { Netlink } from '../../linux/netlink/socket.ts';
import { listenToNftables, type NftEvent } from '../../linux/nftables/events.ts';
import { type GenerationSources, GenerationWatch } from '../../linux/nftables/generation-watch.ts';
import type { Drift } from '../contract.ts';
import { elementName } from './element-text.ts';
import { MANAGED_SETS, type ManagedSet } from './elements.ts';
import { TABLE_NAME } from './sets.ts';
import type { Suspects } from './suspects.ts';

/** A change is described by its first objects; a flush has thousands. */
const MOST_DESCRIBED = 3;

/**
 * Tells what others change in our tables. The kernel names the socket with every object, and the
 * process with the end of the transaction: so the drift is told at its end.
 */
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
  using netlink = of.netlink;
  let events: NftEvent[] = [];
  const generations = new GenerationWatch(of.generations);
  const listener = {
    isOurs: of.isOurs,
    onEvent(event: NftEvent) {
      if (event.table !== TABLE_NAME) return;
      of.suspects().note(event);
      events.push(event);
    },
    onCommit(commit: { processId: number; processName: string }) {
      generations.noteForeignCommit();
      if (events.length === 0) return;
      const what = describe(events);
      events = [];
      const by = { pid: commit.processId, program: commit.processName };
      onDrift({ what, by });
    },
    onOverrun() {
      events = [];
      follow(tellLoss());
    },
  };
  const tellLoss = async () => {
    if (await generations.wasOnlyOurs()) return;
    of.suspects().noteEverything();
    onDrift({ what: 'unknown changes: kernel events were lost (socket buffer overrun)' });
  };
  // A rejection that waits for the end of the listening is one that nobody handles: it would end
  // the process. So it ends the listening.
  const failure = new AbortController();
  const followed: Promise<void>[] = [];
  const follow = (work: Promise<void>): void => {
    followed.push(work.catch((error: unknown) => failure.abort(error)));
  };
  follow(generations.begin());
  await listenToNftables(netlink, listener, AbortSignal.any([signal, failure.signal]));
  await Promise.all(followed);
  failure.signal.throwIfAborted();
}

function describe(events: readonly NftEvent[]): string {
  const objects = events.flatMap(objectsOf);
  const shown = objects.slice(0, MOST_DESCRIBED).join(', ');
  const rest = objects.length - MOST_DESCRIBED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function objectsOf(event: NftEvent): string[] {
  const change = event.change === 'new' ? 'added' : 'deleted';
  if (event.kind !== 'elements') {
    const name = event.kind === 'table' ? '' : ` ${event.name}`;
    const kind = event.kind === 'rule' ? 'rule of chain' : event.kind;
    return [`${change} ${kind}${name} of ${event.family} ${event.table}`];
  }
  const set = event.name as ManagedSet;
  if (!MANAGED_SETS.includes(set)) return [`${change} elements of ${event.family} ${event.name}`];
  return event.elements.map(({ key }) => `${change} ${elementName(event.family, set, key)}`);
}
