import type { Forwarding, Frontend, Outcome, SourceClass } from '../../forwarding/model.ts';
import { SOURCE_CLASSES } from '../../forwarding/model.ts';
import { canDrain, type Scheduler } from '../../forwarding/scheduler.ts';
import type { PageWords } from '../../modes/pages/rendered-page.ts';
import type { CapturedFrontend } from './plane/capture/frontend.ts';
import { MOST_DESTINATIONS, type WantedServer } from './plane/wanted.ts';
import { schedulerWords } from './scheduler-words.ts';

const FROM: Readonly<Record<SourceClass, string>> = {
  pod: 'from a pod',
  host: 'from the node',
  outside: 'from outside',
};
/** Addresses named in a sentence; the table of frontends has all. */
const MOST_NAMED = 3;

interface InIpvs {
  readonly servers: readonly WantedServer[];
  readonly scheduler: Scheduler;
}

/** What happens to a new connection, for people: by source, then what IPVS does. */
export function ipvsWords(row: Forwarding, inIpvs: InIpvs): PageWords[] {
  const served = row.frontends.filter(({ notServed }) => notServed === undefined);
  const fates = SOURCE_CLASSES.flatMap((source) => fatesOf(served, { source, inIpvs }));
  const fault =
    row.schedulerFault === undefined ? [] : [words('ignored', `annotation ${row.schedulerFault}`)];
  const notTaken = [
    ...tooMany(row),
    ...(hasUnknownAddresses(row, inIpvs) ? [UNKNOWN_ADDRESSES] : []),
  ];
  if (inIpvs.servers.length === 0) return [...fates, ...fault, ...notTaken];
  return [
    ...fates,
    ...choice(row, inIpvs.scheduler),
    ...fault,
    leaving(inIpvs.scheduler),
    ...notTaken,
  ];
}

function tooMany({ clusterEndpoints, localEndpoints }: Forwarding): PageWords[] {
  const most = Math.max(clusterEndpoints.length, localEndpoints.length);
  if (most <= MOST_DESTINATIONS) return [];
  const counts = `${most.toLocaleString('en-US')} endpoints are more than the ${MOST_DESTINATIONS.toLocaleString('en-US')}`;
  return [words('without IPVS', `${counts} that IPVS can take quickly: served by the rules below`)];
}

/** A line for each outcome that the frontends have for this source. */
function fatesOf(
  frontends: readonly Frontend[],
  { source, inIpvs }: { readonly source: SourceClass; readonly inIpvs: InIpvs },
): PageWords[] {
  const byFate = Map.groupBy(frontends, (frontend) =>
    fate(frontend.outcomes[source], isTaken(frontend, { source, inIpvs })),
  );
  return [...byFate].map(([does, to], index) => {
    const where = byFate.size === 1 ? '' : `to ${named(to)}: `;
    return words(index === 0 ? FROM[source] : '', `${where}${does}`);
  });
}

function isTaken(
  frontend: Frontend,
  { source, inIpvs }: { readonly source: SourceClass; readonly inIpvs: InIpvs },
): boolean {
  return inIpvs.servers.some(
    (server) => isAt(frontend, server) && server.captured.capture[source] !== 'pass',
  );
}

/** `taken from pod, host (masqueraded)`: the source classes of an element, for people. */
export function captureWords(capture: CapturedFrontend['capture']): string {
  const taken = SOURCE_CLASSES.filter((source) => capture[source] !== 'pass').map((source) =>
    capture[source] === 'take' ? source : `${source} (masqueraded)`,
  );
  return `taken from ${taken.join(', ')}`;
}

/** Whether the virtual server is one of the frontend: a node port has one for each address. */
export function isAt({ address, port }: Frontend, { server }: WantedServer): boolean {
  return server.port === port && (address === '' || server.address === address);
}

function fate(outcome: Outcome, isTakenByIpvs: boolean): string {
  if (outcome.action === 'reject') return 'rejected by the rules below';
  if (outcome.action === 'drop') return 'dropped by the rules below';
  const by = isTakenByIpvs ? 'IPVS' : 'the rules below';
  const list = outcome.list === 'local' ? ', to an endpoint on this node' : '';
  const sees = outcome.masquerade ? 'an address of this node' : "the client's address";
  return `by ${by}${list}; the endpoint sees ${sees}`;
}

function named(frontends: readonly Frontend[]): string {
  const all = frontends.map(({ address, port }) => {
    if (address === '') return `node port ${port}`;
    return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  });
  const more = all.length - MOST_NAMED;
  return more <= 0 ? all.join(', ') : `${all.slice(0, MOST_NAMED).join(', ')} and ${more} more`;
}

function choice({ affinitySeconds }: Forwarding, scheduler: Scheduler): PageWords[] {
  const first = words('choice', schedulerWords(scheduler));
  if (affinitySeconds === 0) return [first];
  return [
    words(
      'sticky',
      `a client keeps its endpoint for ${affinitySeconds} s, and longer while IPVS still has a connection of it; the scheduler chooses for new clients only`,
    ),
    first,
  ];
}

function leaving(scheduler: Scheduler): PageWords {
  const text = canDrain(scheduler)
    ? 'it gets weight 0: no new connections, and it is deleted after its last one'
    : 'it is deleted at once, with its connections';
  return words('an endpoint leaves', text);
}

const UNKNOWN_ADDRESSES = words(
  'node port',
  'IPVS has a virtual server for each address of the node; which ones is known on the node only',
);

function hasUnknownAddresses(row: Forwarding, { servers }: InIpvs): boolean {
  if (row.onlyPackets || tooMany(row).length > 0) return false;
  return row.frontends.some(
    ({ kind, notServed, port, outcomes }) =>
      kind === 'node-port' &&
      notServed === undefined &&
      Object.values(outcomes).some(({ action }) => action === 'forward') &&
      !servers.some(({ captured }) => captured.port === port),
  );
}

function words(about: string, text: string): PageWords {
  return { about, text };
}
