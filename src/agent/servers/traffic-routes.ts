import type { ServicePortKey } from '../../forwarding/model.ts';
import type { TrafficPages } from './traffic-pages.ts';

const SERVED = '/served';
const SERVED_OF = '/served/of/';
const COUNTS = '/counters/of/';
const TOTALS = '/totals';
const REFUSED = '/refused';

export const TRAFFIC_PATHS = {
  served: (afterService?: string) =>
    afterService === undefined ? SERVED : `${SERVED}/after/${encodeURIComponent(afterService)}`,
  servedOf: (services: readonly string[]) => SERVED_OF + services.map(encodeURIComponent).join(','),
  counts: (keys: readonly ServicePortKey[]) => COUNTS + keys.map(encodeURIComponent).join(','),
  totals: TOTALS,
  refused: REFUSED,
} as const;

/** What is asked for at a path; undefined: it is another's path. */
export function trafficAnswer(
  path: string,
  pages: TrafficPages,
): (() => unknown | Promise<unknown>) | undefined {
  if (path === SERVED) return () => pages.served();
  if (path === TOTALS) return () => pages.totals();
  if (path === REFUSED) return () => pages.refused();
  const after = `${SERVED}/after/`;
  if (path.startsWith(after)) {
    const name = decoded(path.slice(after.length));
    return name === undefined ? undefined : () => pages.served(name);
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
