import type { DatedEntry, HistoryPage } from '../../agent/history/page.ts';
import { ageText, countText } from '../status/words.ts';
import { type Tally, tallyOf } from './tally.ts';

export interface Asked {
  /** `namespace/name`; undefined: all. */
  readonly service?: string;
  readonly withinMs?: number;
}

/** The answer in one sentence. */
export function headline(page: HistoryPage, asked: Asked): string {
  const { entries } = page;
  const own = entries.filter(({ service }) => service !== '');
  const tally = tallyOf(own);
  const spanOf = spanText(page, asked);
  if (asked.service === undefined) return allText(own, tally, spanOf);
  const before = page.now === undefined ? 0 : page.now.endpoints - tally.joined + tally.left;
  const said = changesText(tally, { before, serviceChanges: serviceChanges(own) });
  const changes = said === '' ? quietText(own) : said;
  return `${asked.service}: ${changes} ${spanOf}; ${nowText(page)}`;
}

function allText(own: readonly DatedEntry[], tally: Tally, spanOf: string): string {
  if (own.length === 0) return `no Service changed ${spanOf}`;
  const services = new Set(own.map(({ service }) => service)).size;
  const said = changesText(tally, { before: 0, serviceChanges: serviceChanges(own) });
  const total = `${countText(own.length, 'entry', 'entries')} about ${countText(services, 'Service')}`;
  return `${total} ${spanOf}${said === '' ? '' : `: ${said}`}`;
}

/** Only entries that are no change of an endpoint, such as deleted flows. */
function quietText(own: readonly DatedEntry[]): string {
  const others = own.filter(({ what }) => what.kind !== 'service' && what.kind !== 'endpoints');
  if (others.length === 0) return 'no change';
  return `no change, ${countText(others.length, 'other entry', 'other entries')}`;
}

function changesText(
  { joined, left, passed, flapped, became, unnamed }: Tally,
  { before, serviceChanges: service }: { before: number; serviceChanges: readonly string[] },
): string {
  const ofAll = before > left && left > 0 ? ` of ${before.toLocaleString('en-US')}` : '';
  const leftText =
    ofAll === '' ? `${countText(left, 'endpoint')} left` : `${left}${ofAll} endpoints left`;
  return [
    ...service,
    ...(left > 0 ? [leftText] : []),
    ...(joined > 0 ? [`${countText(joined, 'endpoint')} joined`] : []),
    ...Array.from(became, ([state, count]) => `${countText(count, 'endpoint')} became ${state}`),
    ...(passed > 0 ? [`${countText(passed, 'endpoint')} came and went`] : []),
    ...(flapped > 0 ? [`${countText(flapped, 'endpoint')} changed and changed back`] : []),
    ...(unnamed > 0 ? [`${countText(unnamed, 'more endpoint')} changed`] : []),
  ].join(', ');
}

function serviceChanges(own: readonly DatedEntry[]): readonly string[] {
  const counts = { created: 0, changed: 0, deleted: 0 };
  for (const { what } of own) if (what.kind === 'service') counts[what.change]++;
  return (['created', 'changed', 'deleted'] as const).flatMap((change) => {
    const count = counts[change];
    if (count === 0) return [];
    return [count === 1 ? `Service ${change}` : `Service ${change} ${count} times`];
  });
}

function nowText({ now }: HistoryPage): string {
  if (now === undefined || !now.exists) return 'the Service does not exist now';
  if (now.endpoints === 0) return 'no endpoints now';
  const { endpoints, ready } = now;
  return `${countText(endpoints, 'endpoint')} now, ${ready.toLocaleString('en-US')} ready`;
}

/** Not longer than the history is complete. */
function spanText(
  { completeForMs, completeSinceMs, begunAtMs }: HistoryPage,
  asked: Asked,
): string {
  const { withinMs } = asked;
  if (withinMs !== undefined && withinMs <= completeForMs)
    return `in the last ${ageText(withinMs)}`;
  const since = `in the last ${ageText(completeForMs)}`;
  return completeSinceMs > begunAtMs
    ? `${since}, as far as the history goes back`
    : `${since}, since the agent started`;
}
