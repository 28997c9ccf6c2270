import type { StatusPage } from '../../agent/status-page.ts';
import type { IpvsReport } from '../../dataplanes/contract.ts';
import { wrapped } from '../terminal/fit.ts';
import { formatWrappedTable } from '../text-table.ts';
import { countText, heads } from './words.ts';

/** Schedulers named in the line; `-v` has all. */
const NAMED = 3;
/** Services named one by one. */
const SHOWN = 3;

/** `ipvs: 12 virtual servers (10 rr, 2 mh), 250 active connections, 3 destinations draining`. */
export function ipvsLine({ ipvs }: StatusPage, width: number): string[] {
  if (ipvs === undefined) return [];
  const draining = ipvs.drainingDestinations;
  const line = [
    `ipvs: ${countText(ipvs.virtualServers, 'virtual server')}${schedulersText(ipvs.schedulers)}`,
    countText(ipvs.activeConnections, 'active connection'),
    ...(draining === 0 ? [] : [`${countText(draining, 'destination')} draining`]),
  ].join(', ');
  return wrapped(line, width);
}

/** The most frequent first. */
function schedulersText(schedulers: IpvsReport['schedulers']): string {
  if (schedulers.length === 0) return '';
  const sorted = schedulers.toSorted((a, b) => b.virtualServers - a.virtualServers);
  const named = sorted
    .slice(0, NAMED)
    .map(({ name, virtualServers }) => `${virtualServers.toLocaleString('en-US')} ${name}`);
  return ` (${[...named, ...(sorted.length > NAMED ? ['…'] : [])].join(', ')})`;
}

/** For `-v`. Empty in modes without IPVS. */
export function ipvsCounts({ ipvs }: StatusPage, width: number): string {
  if (ipvs === undefined) return '';
  const count = (value: number, what: string): string[] => [value.toLocaleString('en-US'), what];
  return formatWrappedTable(
    [
      heads('IPVS', 'OF WHAT'),
      count(ipvs.virtualServers, 'virtual servers: an address, a protocol and a port each'),
      ...ipvs.schedulers.map(({ name, virtualServers }) =>
        count(virtualServers, `of these, with scheduler ${name}`),
      ),
      count(ipvs.destinations, 'destinations that get new connections'),
      count(ipvs.drainingDestinations, 'destinations with weight 0, until their connections end'),
      count(ipvs.activeConnections, 'active connections: established'),
      count(ipvs.inactiveConnections, 'inactive connections: ending, ended, or not of TCP'),
    ],
    { width },
  );
}

/** Only in a mode that reads the annotation. */
export function ipvsTroubles({
  ipvs,
  ipvsFailure,
  contents,
}: StatusPage): { readonly what: string; readonly next: string }[] {
  if (ipvs === undefined && ipvsFailure === undefined) return [];
  const unread = ipvsFailure && {
    what: `the counts of IPVS could not be read: ${ipvsFailure.message}`,
    next: ipvsFailure.next,
  };
  const ignored = contents?.ignoredSchedulers ?? { count: 0, first: [] };
  const named = ignored.first.slice(0, SHOWN).map(({ service, fault }) => ({
    what: `the scheduler of ${service} is ignored: ${fault}`,
    next: 'correct the annotation, or delete it; docs/ipvs.md has the schedulers',
  }));
  const more = ignored.count - named.length;
  return [
    ...(unread ? [unread] : []),
    ...named,
    ...(more > 0
      ? [
          {
            what: `the annotations of ${countText(more, 'more Service')} are ignored`,
            next: 'fairlead services lists them',
          },
        ]
      : []),
  ];
}
