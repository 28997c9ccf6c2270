import type { EndpointState } from '../../agent/history/history-entry.ts';
import type { DatedEntry, HistoryPage } from '../../agent/history/history-page.ts';
import { ageText, countText } from '../status/status-texts.ts';

export interface Asked {
  /** `namespace/name`; undefined: all. */
  readonly service?: string;
  readonly withinMs?: number;
}

/** The answer in one sentence. */
export function headline(page: HistoryPage, asked: Asked): string {
  // Between two runs of the agent changes are not known, so they do not add up.
  const entries = page.entries.filter(({ seq }) => seq >= (page.startedSeq ?? 0));
  const own = entries.filter(({ service }) => service !== '');
  const tally = tallyOf(own);
  const spanOf = `${nodeText(entries)}${spanText(page, asked)}`;
  if (asked.service === undefined) return allText(own, tally, spanOf);
  const before = page.now === undefined ? 0 : page.now.endpoints - tally.joined + tally.left;
  const said = changesText(tally, { before, serviceChanges: serviceChanges(own) });
  const changes = said === '' ? quietText(own) : said;
  return `${asked.service}: ${changes}${spanOf}; ${nowText(page)}`;
}

function allText(own: readonly DatedEntry[], tally: Tally, spanOf: string): string {
  if (own.length === 0) return `no Service changed${spanOf}`;
  const services = new Set(own.map(({ service }) => service)).size;
  const said = changesText(tally, { before: 0, serviceChanges: serviceChanges(own) });
  const total = `${countText(own.length, 'entry', 'entries')} about ${countText(services, 'Service')}`;
  return `${total}${spanOf}${said === '' ? '' : `: ${said}`}`;
}

/** What other processes did to the kernel, and whether it was repaired. Empty: nothing. */
function nodeText(entries: readonly DatedEntry[]): string {
  let [external, repairs, open] = [0, 0, 0];
  for (const { what, kernel, again } of entries) {
    const times = 1 + (again?.count ?? 0);
    if (what.kind === 'drift' && !what.isOwn) external += times;
    if (what.kind !== 'repaired') continue;
    if (kernel === 'kernel') repairs += times;
    else open++;
  }
  const texts = [
    external === 0 ? '' : countText(external, 'external change'),
    repairs === 0 ? '' : countText(repairs, 'repair'),
    open === 0 ? '' : `${countText(open, 'difference', 'differences')} of the kernel not repaired`,
  ].filter((text) => text !== '');
  return texts.length === 0 ? ' ' : `, ${texts.join(', ')} `;
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

/** What changes add up to: an endpoint that left one slice and joined another did not leave. */
interface Tally {
  readonly joined: number;
  readonly left: number;
  /** Came and went within the entries. */
  readonly passed: number;
  /** Changed, and are as they were. */
  readonly flapped: number;
  readonly became: ReadonlyMap<EndpointState, number>;
  /** Changes of endpoints that no entry names. */
  readonly unnamed: number;
}

interface Seen {
  /** In which state it was first, by slice; undefined: it was not there. */
  readonly from: Map<string, EndpointState | undefined>;
  readonly to: Map<string, EndpointState | undefined>;
}

export function tallyOf(entries: readonly DatedEntry[]): Tally {
  const seen = new Map<string, Seen>();
  let unnamed = 0;
  for (const { service, what } of entries) {
    if (what.kind !== 'endpoints') continue;
    if (what.uncompared) unnamed += Math.abs(what.uncompared.after - what.uncompared.before);
    for (const { from, to, endpoints } of what.moves) {
      unnamed += endpoints.count - endpoints.first.length;
      for (const address of endpoints.first) {
        const key = `${service} ${address}`;
        const known = seen.get(key) ?? { from: new Map(), to: new Map() };
        if (!known.from.has(what.slice)) known.from.set(what.slice, from);
        known.to.set(what.slice, to);
        seen.set(key, known);
      }
    }
  }
  return { ...added(seen.values()), unnamed };
}

function added(all: Iterable<Seen>): Omit<Tally, 'unnamed'> {
  let [joined, left, passed, flapped] = [0, 0, 0, 0];
  const became = new Map<EndpointState, number>();
  for (const seen of all) {
    const [from, to] = [stateIn(seen.from), stateIn(seen.to)];
    if (from === undefined && to === undefined) passed++;
    else if (from === undefined) joined++;
    else if (to === undefined) left++;
    else if (from === to) flapped++;
    else became.set(to, (became.get(to) ?? 0) + 1);
  }
  return { joined, left, passed, flapped, became };
}

/** Of all slices that it is in; the first counts, as there is nearly always one. */
function stateIn(slices: Seen['from']): EndpointState | undefined {
  for (const state of slices.values()) if (state !== undefined) return state;
  return undefined;
}
