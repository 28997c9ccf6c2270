import { constants } from 'node:os';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { IpvsRejection } from '../../../linux/ipvs/ipvs-model.ts';
import { rejectionText } from './ipvs-rejection.ts';
import type { Rejections } from './ipvs-writer.ts';
import type { ServerPlan } from './server-plan.ts';

const { EEXIST, ENOENT, ESRCH } = constants.errno;
/** A tenant may make new addresses without end. */
const MOST_REMEMBERED = 1000;

/** Whether the kernel has something else than was known: then it must be read. */
export function isSurprise({ write, errno }: IpvsRejection, isOurs: boolean): boolean {
  if (errno === ESRCH) return true;
  if ('destination' in write) return errno === ENOENT || errno === EEXIST;
  return errno === EEXIST && isOurs;
}

/** The name of a scheduler that the kernel does not have. */
function missingScheduler({ write, errno }: IpvsRejection): string | undefined {
  const isNamed = write.do === 'add-server' || write.do === 'set-server';
  return isNamed && errno === ENOENT ? write.server.scheduler : undefined;
}

/** Warns of each virtual server that is left to the rules behind once, not with each of its changes. */
export class RejectionWarnings {
  readonly #warn: (message: string) => void;
  readonly #told = new Set<string>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  rejected(rejections: Rejections): void {
    const untold: [ServerPlan, IpvsRejection][] = [];
    for (const [plan, [first]] of rejections) {
      if (first === undefined) continue;
      const scheduler = missingScheduler(first);
      if (scheduler !== undefined) this.#missing(scheduler);
      else if (this.#isNew(`rejected ${plan.id}`)) untold.push([plan, first]);
    }
    const [about] = untold;
    if (about === undefined) return;
    const [{ row }, first] = about;
    this.#warn(
      `IPVS rejected ${rejectionText(first)}${others(untold.length)}: the rules behind IPVS serve this address of ${row}. ` +
        'It is retried with its next change and at each full inspection',
    );
  }

  foreign(servers: ReadonlyMap<string, ServicePortKey>): void {
    const untold = [...servers].filter(([id]) => this.#isNew(`foreign ${id}`));
    const [first] = untold;
    if (first === undefined) return;
    const [id, row] = first;
    this.#warn(
      `virtual server ${id} is of another process${others(untold.length)}: it is not changed, and the rules behind IPVS serve this address of ${row}. ` +
        'Next: delete it if nothing needs it (ipvsadm -D); those of kube-proxy are taken over',
    );
  }

  #missing(scheduler: string): void {
    if (!this.#isNew(`scheduler ${scheduler}`)) return;
    this.#warn(
      `the kernel has no IPVS scheduler ${scheduler}; its Services are served by the rules behind IPVS. ` +
        `Next: load the module ip_vs_${scheduler}, or choose another scheduler`,
    );
  }

  #isNew(what: string): boolean {
    if (this.#told.has(what)) return false;
    if (this.#told.size >= MOST_REMEMBERED) this.#told.clear();
    this.#told.add(what);
    return true;
  }
}

function others(count: number): string {
  return count === 1 ? '' : ` (and ${count - 1} more)`;
}
