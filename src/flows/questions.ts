import type { Forwarding } from '../forwarding/model.ts';
import { PROTOCOL_TCP } from '../linux/conntrack/protocol.ts';
import type { FlowFilter, FlowQuestion } from '../linux/conntrack/question.ts';
import type { BegunRows } from './begun.ts';
import { type FlowTarget, targetOf } from './keys.ts';
import type { Needs } from './needs.ts';

/** Each question with a filter costs the kernel a walk of its table: so many, and no more. */
const MOST_FILTERED_QUESTIONS = 4;

/** What there is to look at. */
export interface Wanted {
  readonly needs: Needs;
  readonly begun: BegunRows;
}

/** What to ask the kernel to see the flows of these frontends, in as few words as pays. */
export function questionsFor({ needs, begun }: Wanted, filtersCheaply: boolean): FlowQuestion[] {
  if (needs.size === 0 && begun.size === 0) return [];
  const targets = [...needs.values()].map(({ target }) => target);
  if (filtersCheaply && targets.length + begun.size <= MOST_FILTERED_QUESTIONS) {
    const all = [...targets, ...[...begun].flatMap(targetsOf)];
    if (all.length <= MOST_FILTERED_QUESTIONS) return all.map(filteredQuestion);
  }
  const protocols = new Set(targets.map(({ protocol }) => protocol));
  const destinationPorts = new Set(targets.map(({ port }) => port));
  if (begun.size === 0) return [{ protocols, destinationPorts }];
  for (const { frontends } of begun) {
    for (const { port } of frontends) destinationPorts.add(port);
  }
  // Rows of TCP have begun only where connections are never reset: the others need no look.
  return [{ protocols: protocols.add(PROTOCOL_TCP), destinationPorts, unansweredTcpOnly: true }];
}

function targetsOf(row: Forwarding): FlowTarget[] {
  return row.frontends.flatMap((frontend) => targetOf(row, frontend) ?? []);
}

function filteredQuestion(target: FlowTarget): FlowQuestion {
  return {
    protocols: new Set([target.protocol]),
    destinationPorts: new Set([target.port]),
    filter: filterFor(target),
  };
}

function filterFor({ version, protocol, address, port }: FlowTarget): FlowFilter {
  const filter = { version, protocol, destinationPort: port };
  return address === undefined ? filter : { ...filter, destination: address };
}
