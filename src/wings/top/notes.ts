import type { GroupedBy } from '../../commands/groupings.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import type { SourceStates } from './traffic-figures.ts';

export interface Limits {
  readonly by: GroupedBy;
  readonly events: SourceStates['events'];
  /** Why there are no events. */
  readonly problem: unknown;
  readonly unseenSources: readonly SourceClass[];
  readonly hearsClients: boolean;
  readonly isRejectedKnown: boolean;
  /** Service ports whose counters are not read. */
  readonly leftOutCount: number;
  readonly hasMoreClients: boolean;
}

/** What is missing, one sentence each. */
export function notesOf(limits: Limits): string[] {
  const { by, events, problem, unseenSources, hearsClients } = limits;
  const { isRejectedKnown, leftOutCount, hasMoreClients } = limits;
  const notes: string[] = [];
  if (events === 'sampled') {
    notes.push(
      'More new connections than are read one by one: rates are from counters, and a Service outside of the sample may be missing.',
    );
  }
  if (events === 'none')
    notes.push(`No conntrack events${reason(problem)}: ranked by open connections.`);
  if (by === 'client' && !hearsClients) {
    notes.push(
      'The kernel tells of no new connection that a program of this mode forwards: rates of clients are unknown, and clients without an open connection are missing.',
    );
  } else if (by === 'client' && events !== 'complete') {
    notes.push('Rates of clients are unknown while events are not complete.');
  }
  if (unseenSources.includes('pod')) {
    notes.push(
      'Sockets of this node and its pods have no translated conntrack entry in this mode: their clients and open connections are unknown.',
    );
  } else if (unseenSources.includes('host')) {
    notes.push(
      'Open connections and clients: without the sockets of this node itself, which have no translated conntrack entry in this mode.',
    );
  }
  if (!isRejectedKnown) {
    notes.push(
      'Rejected and dropped connections are unknown: the rules are of an earlier version, which did not count them.',
    );
  }
  if (leftOutCount > 0) {
    notes.push(
      `${leftOutCount} of the service ports have too many endpoints to read in each tick: their rates are from events, without shares.`,
    );
  }
  if (hasMoreClients)
    notes.push('More than 65,536 clients: the others are counted with their Service only.');
  return notes;
}

function reason(problem: unknown): string {
  return problem instanceof Error ? ` (${problem.message})` : '';
}
