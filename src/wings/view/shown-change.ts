import type { Happening } from '../../agent/history/history-entry.ts';
import type { DatedEntry } from '../../agent/history/history-page.ts';
import { sentenceOf } from '../../commands/history/sentence.ts';
import type { Change } from './protocol/changes-answer.ts';

/** A sentence names a few of many, but a field may be long. */
const LONGEST_SENTENCE = 600;

/** An entry of the history for the page. */
export function changeOf(entry: DatedEntry): Change {
  const { seq, service, atMs, what, kernel, settledAfterMs, again } = entry;
  const by = authorOf(what);
  return {
    seq,
    service,
    atMs,
    kind: what.kind,
    tone: toneOf(what),
    sentence: shortened(sentenceOf(what)),
    ...(kernel === undefined ? {} : { kernel }),
    ...(settledAfterMs === undefined ? {} : { settledAfterMs: toHundredths(settledAfterMs) }),
    ...(by === undefined ? {} : { by }),
    ...(what.kind === 'endpoints' ? { slice: what.slice } : {}),
    ...('resourceVersion' in what && what.resourceVersion !== ''
      ? { resourceVersion: what.resourceVersion }
      : {}),
    ...(again === undefined ? {} : { again }),
  };
}

function toneOf(what: Happening): Change['tone'] {
  switch (what.kind) {
    case 'drift':
      return what.isOwn ? 'usual' : 'bad';
    case 'rejected':
      return 'bad';
    case 'condition':
      return what.isTrue ? 'good' : 'bad';
    case 'repaired':
    case 'first sync':
      return 'good';
    default:
      return 'usual';
  }
}

/** Who wrote the object, or which program changed the kernel. */
function authorOf(what: Happening): string | undefined {
  if (what.kind === 'drift') return what.by && `${what.by.program} (pid ${what.by.pid})`;
  if (!('writers' in what) || what.writers.length === 0) return undefined;
  return shortened([...new Set(what.writers.map(({ manager }) => manager))].join(', '));
}

function shortened(text: string): string {
  return text.length <= LONGEST_SENTENCE ? text : `${text.slice(0, LONGEST_SENTENCE - 1)}…`;
}

function toHundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
