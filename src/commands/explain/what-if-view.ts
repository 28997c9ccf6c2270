import type { Explanation } from '../../explain/explanation.ts';
import type { OpenCounts } from '../../explain/open-connections.ts';
import type {
  FrontendDifference,
  FrontendState,
  ListDifference,
  RowDifference,
  StatedOutcome,
} from '../../explain/what-if.ts';
import { SOURCE_CLASSES } from '../../forwarding/model.ts';
import { notServedText } from '../../forwarding/not-served-text.ts';
import { wrapped } from '../terminal/fit.ts';
import { visible } from '../terminal/visible.ts';
import type { OpenReport } from './count-open-connections.ts';
import { type Form, factLines } from './explain-text.ts';

/** What a change of objects would do. */
export interface WhatIf {
  readonly files: readonly string[];
  /** As it is without them. */
  readonly now: Pick<Explanation, 'code' | 'sentence'>;
  readonly rows: readonly RowDifference[];
  readonly open: OpenReport;
}

const MOST_ROWS = 20;
const MOST_ENDPOINTS = 10;
const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

/** The rows that would change, and what happens now. */
export function whatIfText({ files, now, rows, open }: WhatIf, form: Form): string {
  const count = rows.length === 1 ? '1 row' : `${rows.length.toLocaleString('en-US')} rows`;
  const left = rows.length - MOST_ROWS;
  return [
    ...wrapped(
      visible(`WITH ${files.join(', ')}: ${count} would change; nothing is written`),
      form.width,
    ),
    ...factLines('now', `${now.code}: ${now.sentence}`, form),
    ...openLines(open, form),
    ...rows
      .slice(0, MOST_ROWS)
      .flatMap((row) => [...rowLines(row, form), ...openOfRow(open, row, form)]),
    ...(left > 0
      ? factLines('', `and ${left.toLocaleString('en-US')} more: -o json lists all`, form)
      : []),
  ].join('\n');
}

function openLines(open: OpenReport, form: Form): string[] {
  if ('notCounted' in open) {
    return factLines('open', `connections not counted: ${open.notCounted}`, form);
  }
  const { total, unseen } = open;
  const count = total.stay + total.drain + total.lose;
  const all = count === 1 ? '1 open connection' : `${numberText(count)} open connections`;
  return [
    ...factLines('open', count === 0 ? `${all}` : `of ${all} ${fatesText(total)}`, form),
    ...(unseen === undefined ? [] : factLines('', unseen, form)),
  ];
}

function openOfRow(open: OpenReport, { row }: RowDifference, form: Form): string[] {
  const counts = 'notCounted' in open ? undefined : open.rows[row];
  return counts === undefined ? [] : factLines('open', fatesText(counts), form);
}

/** `103 stay, 309 lose their endpoint`. */
function fatesText({ stay, drain, lose }: OpenCounts): string {
  return [
    `${numberText(stay)} stay`,
    ...(drain === 0 ? [] : [`${numberText(drain)} stay until their endpoint ends`]),
    `${numberText(lose)} lose their endpoint`,
  ].join(', ');
}

function numberText(count: number): string {
  return count.toLocaleString('en-US');
}

function rowLines(difference: RowDifference, form: Form): string[] {
  const { row, is, endpoints, endpointsHere, frontends, affinity } = difference;
  const paint = {
    added: form.colours.green,
    removed: form.colours.red,
    changed: form.colours.yellow,
  };
  return [
    ...wrapped(`  ${SIGNS[is]} ${visible(row)}`, form.width).map(paint[is]),
    ...listLines('endpoints', endpoints, form),
    ...listLines('on this node', endpointsHere, form),
    ...frontends.flatMap((frontend) => frontendLines(frontend, form)),
    ...(affinity ? factLines('affinity', `${affinity.before} s > ${affinity.after} s`, form) : []),
  ];
}

function listLines(topic: string, { added, removed }: ListDifference, form: Form): string[] {
  const signed = [...removed.map((each) => `-${each}`), ...added.map((each) => `+${each}`)];
  if (signed.length === 0) return [];
  const left = signed.length - MOST_ENDPOINTS;
  const more = left > 0 ? ` and ${left.toLocaleString('en-US')} more` : '';
  return factLines(topic, `${signed.slice(0, MOST_ENDPOINTS).join(' ')}${more}`, form);
}

function frontendLines({ at, before, after }: FrontendDifference, form: Form): string[] {
  if (before === undefined && after !== undefined) {
    return factLines('added', `${at}: ${stateText(after)}`, form);
  }
  if (after === undefined || before === undefined) return factLines('removed', at, form);
  const changed = SOURCE_CLASSES.flatMap((each) => {
    const [old, now] = [outcomeText(before.outcomes[each]), outcomeText(after.outcomes[each])];
    return old === now ? [] : [`from ${each} ${old} > ${now}`];
  });
  const others = [restText(before), restText(after)];
  const rest = others[0] === others[1] ? [] : [`${others[0] || 'open'} > ${others[1] || 'open'}`];
  return factLines('at', `${at}: ${[...changed, ...rest].join('; ')}`, form);
}

function stateText(state: FrontendState): string {
  const outcomes = SOURCE_CLASSES.map(
    (each) => `from ${each} ${outcomeText(state.outcomes[each])}`,
  );
  const rest = restText(state);
  return [...outcomes, ...(rest === '' ? [] : [rest])].join('; ');
}

function restText({ allowedSources, notServed }: FrontendState): string {
  const ranges = allowedSources ? `only from ${allowedSources.join(', ') || 'no address'}` : '';
  const unserved = notServed ? `not served: ${notServedText(notServed)}` : '';
  return [ranges, unserved].filter(Boolean).join(', ');
}

function outcomeText(outcome: StatedOutcome): string {
  if (outcome.action === 'reject') return 'rejected';
  if (outcome.action === 'drop') return 'dropped';
  const where = outcome.list === 'local' ? ' here' : '';
  return `${outcome.endpointCount}${where}${outcome.masquerade ? ' masqueraded' : ''}`;
}
