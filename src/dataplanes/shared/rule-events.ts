import type { Netlink } from '../../linux/netlink/netlink-socket.ts';
import { listenToNftables, type NftEvent } from '../../linux/nftables/nftables-events.ts';
import type { Drift } from '../contract.ts';

/** A drift is described by its first objects; a flush has thousands. */
const MOST_DESCRIBED = 3;

/** What the next inspection has to read. */
interface Reported {
  note(event: NftEvent): void;
  noteEverything(): void;
}

/** Whether the events that the kernel could not deliver were all of our own transactions. */
interface LossCheck {
  begin(): Promise<void>;
  noteForeignCommit(): void;
  wasOnlyOurs(): Promise<boolean>;
}

export interface RuleEventsOptions {
  readonly netlink: Netlink;
  /** Whether the socket with this port ID is one of ours. */
  readonly isOurs: (portId: number) => boolean;
  /** Whether the event may mean one of our objects. */
  readonly concerns: (event: NftEvent) => boolean;
  readonly describe: (event: NftEvent) => readonly string[];
  readonly reported: () => Reported;
  readonly losses: LossCheck;
}

/** For a writer whose transactions cannot be counted: any loss may hide another process. */
export const EVERY_LOSS_COUNTS: LossCheck = {
  begin: async () => undefined,
  noteForeignCommit: () => undefined,
  wasOnlyOurs: async () => false,
};

/**
 * Reports what other processes change in our nf_tables objects, until the signal is aborted. The
 * kernel names the socket with every object, and the process with the end of the transaction, so a
 * drift is reported at that end.
 */
export async function watchRuleEvents(
  options: RuleEventsOptions,
  onDrift: (drift: Drift) => void,
  signal: AbortSignal,
): Promise<void> {
  using netlink = options.netlink;
  let events: NftEvent[] = [];
  const listener = {
    isOurs: options.isOurs,
    onEvent(event: NftEvent) {
      if (!options.concerns(event)) return;
      options.reported().note(event);
      events.push(event);
    },
    onCommit(commit: { processId: number; processName: string }) {
      options.losses.noteForeignCommit();
      if (events.length === 0) return;
      const what = firstOf(events.flatMap(options.describe));
      events = [];
      onDrift({ what, by: { pid: commit.processId, program: commit.processName } });
    },
    onOverrun() {
      events = [];
      follow(reportLoss());
    },
  };
  const reportLoss = async () => {
    if (await options.losses.wasOnlyOurs()) return;
    options.reported().noteEverything();
    onDrift({ what: 'unknown changes: kernel events were lost (socket buffer overrun)' });
  };
  // An unhandled rejection would end the process, so a failure ends the listening instead.
  const failure = new AbortController();
  const followed: Promise<void>[] = [];
  const follow = (work: Promise<void>): void => {
    followed.push(work.catch((error: unknown) => failure.abort(error)));
  };
  follow(options.losses.begin());
  await listenToNftables(netlink, listener, AbortSignal.any([signal, failure.signal]));
  await Promise.all(followed);
  failure.signal.throwIfAborted();
}

/** `added chain cluster/3 of ip fairlead`. */
export function objectText({ change, kind, name, family, table }: NftEvent): string {
  const verb = change === 'new' ? 'added' : 'deleted';
  const what = kind === 'rule' ? 'rule of chain' : kind;
  return `${verb} ${what}${kind === 'table' ? '' : ` ${name}`} of ${family} ${table}`;
}

function firstOf(objects: readonly string[]): string {
  const shown = objects.slice(0, MOST_DESCRIBED).join(', ');
  const rest = objects.length - MOST_DESCRIBED;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}
