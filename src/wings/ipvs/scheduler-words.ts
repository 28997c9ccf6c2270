import type { UnevenChoice } from '../../forwarding/answer/place.ts';
import { type Scheduler, schedulerText } from '../../forwarding/scheduler.ts';
import { isTakenFrom } from './plane/wanted.ts';

const BY_ADDRESS = 'by a hash of the address that the client connects to';

/** Which endpoint a new connection gets. Weights are equal unless the annotation gives one. */
const CHOICES: Readonly<Record<string, string>> = {
  rr: 'each endpoint in turn',
  wrr: 'each endpoint in turn: weights are equal, so as with rr',
  lc: 'the endpoint with the fewest connections; an established one counts as 256 others',
  wlc: 'the endpoint with the fewest connections: weights are equal, so as with lc',
  lblc: 'the same endpoint for all clients, until it has more connections than its weight while another is idle',
  lblcr:
    'the same few endpoints for all clients; one more is added when they are busy and another is idle',
  dh: `${BY_ADDRESS}: the same endpoint for all clients; its connections are cut when it leaves`,
  sh: "by a hash of the client's address; when the endpoints change, most clients move",
  mh: "by a hash of the client's address (Maglev); when the endpoints change, few clients move",
  sed: 'the endpoint with the fewest established connections',
  nq: 'an endpoint without connections, else the one with the fewest established ones',
  fo: 'one endpoint for all clients; another one takes over when it leaves',
  twos: 'of two endpoints drawn at random, the one with fewer connections',
};

/** `rr: each endpoint in turn`. */
export function schedulerWords(scheduler: Scheduler): string {
  const { name, flags, weight = 1 } = scheduler;
  const choice =
    name === 'ovf'
      ? `one endpoint until it has more than ${weight} established connections, then the next; refused when all have`
      : (CHOICES[name] ?? 'as the kernel does');
  const ports = flags.some((flag) => flag.endsWith('-port'))
    ? '; the port of the client is hashed too, so each connection counts for itself'
    : '';
  return `${schedulerText(scheduler)}: ${choice}${ports}`;
}

const BY_CLIENT = "if a hash of the client's address selects it";
const FOR_ALL = 'if it is the one that all clients get';

/** Schedulers that do not give each endpoint the same share; each with what decides. */
const DECIDED_BY: Readonly<Record<string, string>> = {
  sh: BY_CLIENT,
  mh: BY_CLIENT,
  dh: FOR_ALL,
  fo: FOR_ALL,
  lblc: FOR_ALL,
  lblcr: 'if it is one of the few that all clients get',
  ovf: 'if the endpoints before it are full',
};

/** By the scheduler of the row, where IPVS takes the connection; else the rules behind draw evenly. */
export function unevenChoiceOf(usual: Scheduler): UnevenChoice {
  return ({ row, frontend }, from) => {
    const { name, flags } = row.scheduler ?? usual;
    const decidedBy = DECIDED_BY[name];
    // With the port in the hash every connection counts for itself.
    const isEven = decidedBy === undefined || flags.some((flag) => flag.endsWith('-port'));
    return isEven || !isTakenFrom(row, frontend, from) ? undefined : `${decidedBy} (${name})`;
  };
}
