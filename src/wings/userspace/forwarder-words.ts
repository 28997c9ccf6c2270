import type { Forwarding, Frontend, Outcome, SourceClass } from '../../forwarding/model.ts';
import { SOURCE_CLASSES } from '../../forwarding/model.ts';
import type { PageWords } from '../../modes/pages/rendered-page.ts';

const FROM: Readonly<Record<SourceClass, string>> = {
  pod: 'from a pod',
  host: 'from the node',
  outside: 'from outside',
};
/** Addresses named in a sentence; the table of frontends has all. */
const MOST_NAMED = 3;

/** What happens to a connection, for people: by source, then the steps of the forwarder. */
export function forwarderWords(row: Forwarding): PageWords[] {
  const { protocol } = row.id;
  if (protocol !== 'TCP') {
    return [
      words('forwarder', `takes TCP only: ${protocol} stays in the kernel, by the rules below`),
    ];
  }
  const served = row.frontends.filter(({ notServed }) => notServed === undefined);
  const fates = SOURCE_CLASSES.flatMap((source) => fatesOf(served, source));
  const isHandedOver = served.some((frontend) =>
    SOURCE_CLASSES.some((source) => frontend.outcomes[source].action === 'forward'),
  );
  return isHandedOver ? [...fates, ...steps(row)] : fates;
}

/** A line for each outcome that the frontends have for this source. */
function fatesOf(frontends: readonly Frontend[], source: SourceClass): PageWords[] {
  const byFate = Map.groupBy(frontends, ({ outcomes }) => fate(outcomes[source]));
  return [...byFate].map(([does, to], index) => {
    const where = byFate.size === 1 ? '' : `to ${named(to)}: `;
    return words(index === 0 ? FROM[source] : '', `${where}${does}`);
  });
}

function fate(outcome: Outcome): string {
  if (outcome.action === 'reject') return 'rejected by the kernel';
  if (outcome.action === 'drop') return 'dropped by the kernel';
  const sees = outcome.masquerade ? 'an address of this node' : "the client's address";
  const list = outcome.list === 'local' ? ', to an endpoint on this node' : '';
  return `handed over to the forwarder${list}; the endpoint sees ${sees}`;
}

function named(frontends: readonly Frontend[]): string {
  const all = frontends.map(({ address, port }) => {
    if (address === '') return `node port ${port}`;
    return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  });
  const more = all.length - MOST_NAMED;
  return more <= 0 ? all.join(', ') : `${all.slice(0, MOST_NAMED).join(', ')} and ${more} more`;
}

function steps(row: Forwarding): PageWords[] {
  return [
    ...choice(row),
    words(
      'source',
      "the port differs from the client's. Endpoints that the client reaches by its own " +
        "interface, or that have an address of this node, always see the node's address",
    ),
    words(
      'without it',
      'while no forwarder runs or it is full (the maps @forwarder-… are empty), the kernel translates ' +
        'by the rules below: an endpoint at random, and no retries',
    ),
  ];
}

function choice({ affinitySeconds, clusterEndpoints, localEndpoints }: Forwarding): PageWords[] {
  if (Math.max(clusterEndpoints.length, localEndpoints.length) === 1) {
    return [words('choice', 'the only endpoint, which has 10 s to accept; then a reset')];
  }
  const fewest = 'of two endpoints drawn at random, the one with fewer open connections';
  const sticky = `the endpoint that the client had in the last ${affinitySeconds} s; else, ${fewest}`;
  return [
    words('choice', affinitySeconds > 0 ? sticky : fewest),
    words(
      'retries',
      'an endpoint that refuses, or does not answer in 0.3 s (then 1 s, 3 s), is avoided for a ' +
        'while, and another one is tried: three at most, before the first byte; then a reset',
    ),
  ];
}

function words(about: string, text: string): PageWords {
  return { about, text };
}
