import type { StatusPage } from '../../agent/status-page.ts';
import { countText, heads } from '../../commands/status/status-texts.ts';
import { wrapped } from '../../commands/terminal/fit.ts';
import { formatWrappedTable } from '../../commands/text-table.ts';
import type { StatusWords, Trouble } from '../../modes/status-words.ts';
import type { IpvsFields } from './ipvs-fields.ts';
import type { IpvsReport } from './plane/ipvs-report.ts';
import type { DeclinedRows } from './plane/room.ts';

/** Schedulers named in the line; `-v` has all. */
const NAMED = 3;
/** Services named one by one. */
const SHOWN = 3;

/** The page of an agent in mode ipvs. */
export interface IpvsPage extends StatusPage, IpvsFields {}

export const IPVS_STATUS_WORDS: StatusWords = {
  lines: ipvsLine,
  troubles: ipvsTroubles,
  details: ipvsCounts,
};

/** `ipvs: 12 virtual servers (10 rr, 2 mh), 250 active connections, 3 destinations draining`. */
function ipvsLine({ ipvs }: IpvsPage, width: number): string[] {
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

/** Empty where it could not be read. */
function ipvsCounts({ ipvs }: IpvsPage, width: number): string {
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

/** A tenant at the bound: others keep their room. */
function noRoom({ rowCount, namespaces }: DeclinedRows): Trouble {
  const named = namespaces.map((each) => `${each.name} (${each.rowCount.toLocaleString('en-US')})`);
  return {
    what: `IPVS has no room for ${countText(rowCount, 'row')}: namespace ${named.join(', ')}`,
    next: 'nftables serves them, without scheduler; see docs/limits.md',
  };
}

function ipvsTroubles({ ipvs, ipvsFailure, contents }: IpvsPage): Trouble[] {
  if (ipvs === undefined && ipvsFailure === undefined) return [];
  const unread = ipvsFailure && {
    what: `the counts of IPVS could not be read: ${ipvsFailure.message}`,
    next: ipvsFailure.next,
  };
  const declined = ipvs?.declined;
  const ignored = contents?.ignoredSchedulers ?? { count: 0, first: [] };
  const named = ignored.first.slice(0, SHOWN).map(({ service, fault }) => ({
    what: `the scheduler of ${service} is ignored: ${fault}`,
    next: 'correct the annotation, or delete it; docs/ipvs.md has the schedulers',
  }));
  const more = ignored.count - named.length;
  return [
    ...(unread ? [unread] : []),
    ...(declined ? [noRoom(declined)] : []),
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
