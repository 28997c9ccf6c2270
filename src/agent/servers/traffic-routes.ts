import type { ServicePortKey } from '../../forwarding/model.ts';
import type { TrafficPages } from './traffic-pages.ts';

const SERVED = '/served';
const SERVED_SINCE = '/served/since/';
const SERVED_AFTER = '/served/after/';
const SERVED_OF = '/served/of/';
const COUNTS = '/counters/of/';
const TOTALS = '/totals';
/** Other versions of the commands ask by this name. */
const REJECTED = '/refused';

export const TRAFFIC_PATHS = {
  served: SERVED,
  servedSince: (version: string) => SERVED_SINCE + encodeURIComponent(version),
  servedAfter: (service: string) => SERVED_AFTER + encodeURIComponent(service),
  servedOf: (services: readonly string[]) => SERVED_OF + services.map(encodeURIComponent).join(','),
  counts: (keys: readonly ServicePortKey[]) => COUNTS + keys.map(encodeURIComponent).join(','),
  totals: TOTALS,
  rejected: REJECTED,
} as const;

/** What is asked for at a path; undefined: it is another's path. */
export function trafficAnswer(
  path: string,
  pages: TrafficPages,
): (() => unknown | Promise<unknown>) | undefined {
  if (path === SERVED) return () => pages.servedSince();
  if (path === TOTALS) return () => pages.totals();
  if (path === REJECTED) return () => pages.rejected();
  if (path.startsWith(SERVED_SINCE)) {
    const version = decoded(path.slice(SERVED_SINCE.length));
    return version === undefined ? undefined : () => pages.servedSince(version);
  }
  if (path.startsWith(SERVED_AFTER)) {
    const name = decoded(path.slice(SERVED_AFTER.length));
    return name === undefined ? undefined : () => pages.servedAfter(name);
  }
  if (path.startsWith(SERVED_OF)) return () => pages.servedOf(listed(path, SERVED_OF));
  if (path.startsWith(COUNTS)) return () => pages.counts(listed(path, COUNTS));
  return undefined;
}

function listed(path: string, base: string): readonly string[] {
  const names = path.slice(base.length).split(',').map(decoded);
  return names.filter((name) => name !== undefined);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
