import type { Forwarding } from '../forwarding/model.ts';
import { PROTOCOL_TCP } from '../linux/conntrack/conntrack-protocol.ts';
import type { FlowFilter, FlowQuestion } from '../linux/conntrack/question.ts';
import type { BegunRows } from './begun.ts';
import { type FlowTarget, targetOf } from './flow-keys.ts';
import type { Needs } from './needs.ts';

/** Most filtered dumps per pass: each costs the kernel a scan of its table. */
const MOST_FILTERED_QUESTIONS = 4;

/** The frontends to check. */
export interface Wanted {
  readonly needs: Needs;
  readonly begun: BegunRows;
}

/** Conntrack queries for the flows of these frontends, as few as possible. */
export function questionsFor({ needs, begun }: Wanted, filtersCheaply: boolean): FlowQuestion[] {
  if (needs.size === 0 && begun.size === 0) return [];
  const targets = [...needs.values()].map(({ target }) => target);
  if (filtersCheaply && targets.length + begun.size <= MOST_FILTERED_QUESTIONS) {
    const attempts = [...begun].flatMap(targetsOf).map(filteredQuestion);
    const all = [
      ...targets.map(filteredQuestion),
      ...attempts.map((question) => ({ ...question, isForAttempts: true as const })),
    ];
    if (all.length <= MOST_FILTERED_QUESTIONS) return all;
  }
  const protocols = new Set(targets.map(({ protocol }) => protocol));
  const destinationPorts = new Set(targets.map(({ port }) => port));
  if (begun.size === 0) return [{ protocols, destinationPorts }];
  for (const { frontends } of begun) {
    for (const { port } of frontends) destinationPorts.add(port);
  }
  // TCP rows are in `begun` only if connections are never reset: otherwise the index has them.
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
