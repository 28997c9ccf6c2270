import type { FlowFilter, FlowQuestion } from '../linux/conntrack/question.ts';
import type { FlowTarget } from './keys.ts';
import type { Needs } from './needs.ts';

/** Each question with a filter costs the kernel a walk of its table: so many, and no more. */
const MOST_FILTERED_QUESTIONS = 4;

/** What to ask the kernel to see the flows of these frontends, in as few words as pays. */
export function questionsFor(needs: Needs, filtersCheaply: boolean): FlowQuestion[] {
  const targets = [...needs.values()].map(({ target }) => target);
  if (targets.length === 0) return [];
  const question = {
    protocols: new Set(targets.map(({ protocol }) => protocol)),
    destinationPorts: new Set(targets.map(({ port }) => port)),
  };
  if (!filtersCheaply || targets.length > MOST_FILTERED_QUESTIONS) return [question];
  return targets.map((target) => ({ ...question, filter: filterFor(target) }));
}

function filterFor({ version, protocol, address, port }: FlowTarget): FlowFilter {
  const filter = { version, protocol, destinationPort: port };
  return address === undefined ? filter : { ...filter, destination: address };
}
