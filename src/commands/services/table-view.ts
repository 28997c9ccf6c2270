import { styleText } from 'node:util';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { Forwarding, Frontend, Outcome, SourceClass } from '../../forwarding/model.ts';
import { SOURCE_CLASSES } from '../../forwarding/model.ts';
import { notServedText } from '../../forwarding/not-served-text.ts';
import { schedulerText } from '../../forwarding/scheduler.ts';
import { formatTextTable } from '../text-table.ts';
import {
  frontendText,
  nodeAddresses,
  outcomeText,
  portText,
  type Row,
  rejectText,
} from './select-rows.ts';

const SOURCE_HEADS: Readonly<Record<SourceClass, string>> = {
  pod: 'FROM POD',
  host: 'FROM HOST',
  outside: 'FROM OUTSIDE',
};

/** One line per frontend: outcome for pods, the node, and other clients. */
export function servicesTable(rows: readonly Row[], facts: NodeFacts): string {
  return formatTextTable([headOf(facts), ...rows.flatMap((row) => linesOf(row, facts))]);
}

function headOf(facts: NodeFacts): string[] {
  const sources = servedSources(facts).map((source) => SOURCE_HEADS[source]);
  return ['SERVICE', 'FRONTEND', 'KIND', ...sources, 'NOTES'].map(bold);
}

/** Where the machine's own sockets are the only clients, no packet of another comes to the rules. */
function servedSources({ clientInterfaces }: NodeFacts): readonly SourceClass[] {
  return clientInterfaces?.length === 0 ? ['host'] : SOURCE_CLASSES;
}

/** The same, with all candidate endpoints of each port. */
export function servicesWide(rows: readonly Row[], facts: NodeFacts): string {
  const blocks = rows.map((row) => {
    const frontends = formatTextTable([headOf(facts), ...linesOf(row, facts)]);
    return `${frontends}\n\n${candidateTable(row)}\n`;
  });
  return blocks.join('\n');
}

function linesOf(row: Row, facts: NodeFacts): string[][] {
  const { forwarding } = row;
  return forwarding.frontends.map((frontend, index) => [
    index === 0 ? portText(forwarding) : '',
    frontendText(frontend),
    frontend.kind,
    ...servedSources(facts).map((source) => cellOf(frontend, source, forwarding)),
    notes(frontend, forwarding, facts),
  ]);
}

/** What is not served has no outcome here. */
function cellOf(
  { notServed, outcomes }: Frontend,
  source: SourceClass,
  forwarding: Forwarding,
): string {
  return notServed === undefined ? outcomeCell(outcomes[source], forwarding) : '-';
}

function notes(frontend: Frontend, forwarding: Forwarding, facts: NodeFacts): string {
  const { affinitySeconds, onlyPackets, scheduler, schedulerFault } = forwarding;
  const found: string[] = [];
  const { nodeAddresses: on } = nodeAddresses(frontend, forwarding, facts);
  if (on?.length === 0) found.push('on no address of this node');
  if (frontend.notServed) found.push(`not served: ${notServedText(frontend.notServed)}`);
  const rejected = rejectText(frontend);
  if (rejected !== '') found.push(rejected);
  const { allowedSources } = frontend;
  if (allowedSources) found.push(`only from ${allowedSources.join(', ') || 'no source'}`);
  if (affinitySeconds > 0) found.push(`sticky ${affinitySeconds} s`);
  if (onlyPackets) found.push('no eBPF');
  if (scheduler) found.push(`scheduler ${schedulerText(scheduler)} in mode ipvs`);
  if (schedulerFault !== undefined) found.push(`ignored: ${schedulerFault}`);
  return found.join('; ');
}

function candidateTable({ candidates }: Row): string {
  if (candidates.length === 0) return '    no endpoints';
  const rows = candidates.map((candidate) => [
    '   ',
    endpointKey(candidate),
    candidate.nodeName || '-',
    candidate.state,
    verdict(candidate.verdicts.cluster),
    verdict(candidate.verdicts.local),
  ]);
  const head = ['   ', 'ENDPOINT', 'NODE', 'STATE', 'CLUSTER LIST', 'LOCAL LIST'];
  return formatTextTable([head.map(bold), ...rows]);
}

function verdict(text: string): string {
  if (text === 'selected') return styleText('green', text);
  return text === 'list not used' ? styleText('dim', text) : styleText('yellow', text);
}

/** Text of an outcome, the same in every command. */
export function outcomeCell(outcome: Outcome, forwarding: Forwarding): string {
  const text = outcomeText(outcome, forwarding);
  if (outcome.action === 'forward') return text;
  return styleText(outcome.action === 'reject' ? 'yellow' : 'red', text);
}

function bold(text: string): string {
  return styleText('bold', text);
}
