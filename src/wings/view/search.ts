import type { ServedPort } from '../../agent/servers/traffic-pages.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { DotField } from './dots.ts';
import type { FoundService, SearchAnswer } from './protocol/dots-answer.ts';

const MOST_FOUND = 50;
/** Parts of an address or a port, with at least one digit. */
const ADDRESS = /^[\d.:[\]a-f]*\d[\d.:[\]a-f]*$/;

/** Ranks: the smaller the better. */
const RANK = { whole: 0, ofName: 1, ofService: 2, part: 3, address: 4 } as const;

interface Hit {
  readonly service: string;
  readonly rank: number;
  readonly by?: string;
}

/** Services by a part of their name, or by an address or node port of theirs. */
export function search(field: DotField, query: string): SearchAnswer {
  const wanted = query.trim().toLowerCase();
  const hits = wanted === '' ? [] : [...hitsFor(field, wanted)];
  hits.sort((a, b) => a.rank - b.rank || (a.service < b.service ? -1 : 1));
  const found = hits.slice(0, MOST_FOUND).map(
    ({ service, by }): FoundService => ({
      service,
      index: field.indexOf(service),
      state: field.stateOf(service),
      ...(by === undefined ? {} : { by }),
    }),
  );
  return { query, found, more: hits.length - found.length };
}

function* hitsFor(field: DotField, wanted: string): Generator<Hit> {
  const isAddress = ADDRESS.test(wanted);
  for (const [service, ports] of field.all()) {
    const rank = nameRank(service.toLowerCase(), wanted);
    const by = rank === undefined && isAddress ? addressOf(ports, wanted) : undefined;
    if (rank !== undefined) yield { service, rank };
    else if (by !== undefined) yield { service, rank: RANK.address, by };
  }
}

/** Undefined: the name does not have it. */
function nameRank(service: string, wanted: string): number | undefined {
  if (!service.includes(wanted)) return undefined;
  const name = service.slice(service.indexOf('/') + 1);
  if (service === wanted || name === wanted) return RANK.whole;
  if (name.startsWith(wanted)) return RANK.ofName;
  return service.startsWith(wanted) ? RANK.ofService : RANK.part;
}

function addressOf(ports: readonly ServedPort[], wanted: string): string | undefined {
  for (const [, frontends] of ports) {
    for (const [address, port] of frontends) {
      if (address === '' && String(port) === wanted) return `node port ${port}`;
      if (address === '') continue;
      const whole = endpointKey({ address, port });
      if (address.startsWith(wanted) || whole === wanted) return whole;
    }
  }
  return undefined;
}
