import type { DatedEntry } from '../../agent/history/history-page.ts';
import type { Writer } from '../../cluster/stamp.ts';
import { msText } from '../status/status-texts.ts';
import type { Colours } from '../terminal/colour.ts';
import { wrapped } from '../terminal/fit.ts';
import { visible } from '../terminal/visible.ts';
import { sentenceOf } from './sentence.ts';

export interface Form {
  readonly width: number;
  readonly colours: Colours;
}

/** Width of `14:02:11.204  `. */
const INDENT = 14;
const LEAST_TEXT_WIDTH = 20;
/**
 * A write that the API server recorded much earlier than we heard of it is not this one. Its clock
 * may differ from ours by some seconds.
 */
const SAME_WRITE_MS = 60_000;

/** Entries in order, each with its time, and a line for every day. */
export function historyText(
  entries: readonly DatedEntry[],
  form: Form & { readonly dayBefore?: string },
): string {
  const lines: string[] = [];
  let day = form.dayBefore ?? '';
  for (const entry of entries) {
    const today = dayOf(entry.atMs);
    if (today !== day) lines.push(form.colours.bold(`${today} UTC`));
    day = today;
    lines.push(...entryLines(entry, form));
  }
  return lines.join('\n');
}

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function entryLines(entry: DatedEntry, { width, colours }: Form): string[] {
  const room = Math.max(LEAST_TEXT_WIDTH, width - INDENT);
  const subject = entry.service === '' ? 'node' : entry.service;
  const text = wrapped(visible(`${subject}: ${sentenceOf(entry.what)}`), room);
  const more = wrapped(visible(detailsOf(entry)), room).filter((line) => line !== '');
  const time = timeOf(entry.atMs).padEnd(INDENT);
  const margin = ' '.repeat(INDENT);
  const [first = '', ...rest] = text;
  return [
    `${colours.bold(time)}${first}`,
    ...rest.map((line) => margin + line),
    ...more.map((line) => margin + colours.dim(line)),
  ];
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 23);
}

/** Where it comes from, and when the kernel had it. */
function detailsOf({ what, kernel, settledAfterMs, again, atMs, ageMs }: DatedEntry): string {
  const parts: string[] = [];
  if (what.kind === 'endpoints') parts.push(`slice ${what.slice}`);
  if ('writers' in what) {
    if (what.resourceVersion !== '') parts.push(`version ${what.resourceVersion}`);
    parts.push(writersText(what.writers, { atMs, isDeleted: what.change === 'deleted' }));
  }
  const isRepair = what.kind === 'repaired';
  if (kernel === 'kernel') {
    const most = again === undefined ? '' : 'at most ';
    const done = isRepair ? 'repaired' : 'in the kernel';
    parts.push(`${done} after ${most}${msText(settledAfterMs ?? 0)}`);
  }
  if (kernel === 'unknown') parts.push('the agent ended before it noted the answer of the kernel');
  if (kernel === 'unneeded') parts.push('no rule of this node changes');
  if (kernel === 'waiting') {
    parts.push(`${isRepair ? 'not repaired' : 'not in the kernel'} yet, after ${msText(ageMs)}`);
  }
  if (again) parts.push(`${again.count} more times, last at ${timeOf(again.lastAtMs)}`);
  return parts.join(', ');
}

function writersText(
  writers: readonly Writer[],
  { atMs, isDeleted }: { readonly atMs: number; readonly isDeleted: boolean },
): string {
  const [first] = writers;
  if (first === undefined) return 'writer not recorded';
  const names = writers.map(({ manager, operation, subresource }) => {
    const of = subresource === '' ? operation : `${operation} of ${subresource}`;
    return `${manager} (${of})`;
  });
  const who = `${names.join(' or ')} at ${timeOf(first.atMs).slice(0, 8)}`;
  // The API server does not record who deletes an object.
  if (isDeleted) return `last written by ${who}`;
  return atMs - first.atMs > SAME_WRITE_MS
    ? `writer not recorded, before that ${who}`
    : `written by ${who}`;
}
