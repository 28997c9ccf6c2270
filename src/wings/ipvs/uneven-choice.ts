import type { UnevenChoice } from '../../forwarding/answer/place.ts';
import type { Scheduler } from '../../forwarding/scheduler.ts';
import { isTakenFrom } from './plane/wanted.ts';

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
