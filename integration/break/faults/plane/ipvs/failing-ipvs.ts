import { constants } from 'node:os';
import type { Ipvs, IpvsRejection, IpvsWrite } from '../../../../../src/linux/ipvs/ipvs-model.ts';
import { NetlinkError } from '../../../../../src/linux/netlink/netlink-error.ts';
import type { Failures } from '../failures.ts';

const { ENOBUFS, ENOMEM } = constants.errno;

/**
 * Makes calls to IPVS fail at random. A fake in place of the kernel, as another process cannot make it
 * reject one message and accept the next. It fails as the kernel does: one message of many is rejected
 * and all others are executed, or the answer is lost after some were executed.
 */
export class IpvsFailures implements Failures {
  readonly #share: number;
  callCount = 0;
  failedCount = 0;

  constructor(share: number) {
    this.#share = share;
  }

  around(ipvs: Ipvs): Ipvs {
    return {
      write: (writes) => this.#write(ipvs, writes),
      read: () => this.#orFail('read', () => ipvs.read()),
      destinationsOf: (servers) =>
        this.#orFail('list destinations', () => ipvs.destinationsOf(servers)),
      existing: (servers) => this.#orFail('look for servers', () => ipvs.existing(servers)),
      fingerprint: (of) => this.#orFail('fingerprint', () => ipvs.fingerprint(of)),
      timeouts: () => this.#orFail('read timeouts', () => ipvs.timeouts()),
      setTimeouts: (timeouts) => this.#orFail('set timeouts', () => ipvs.setTimeouts(timeouts)),
    };
  }

  async #write(ipvs: Ipvs, writes: readonly IpvsWrite[]): Promise<readonly IpvsRejection[]> {
    if (writes.length === 0 || !this.#fails()) return await ipvs.write(writes);
    const at = Math.floor(Math.random() * writes.length);
    const [before, rejected, after] = [writes.slice(0, at), writes[at], writes.slice(at + 1)];
    if (rejected === undefined || Math.random() < 0.5) {
      await ipvs.write(before);
      throw planted('write');
    }
    const others = [...(await ipvs.write(before)), ...(await ipvs.write(after))];
    return [...others, { write: rejected, errno: ENOMEM }];
  }

  async #orFail<T>(what: string, call: () => Promise<T>): Promise<T> {
    if (this.#fails()) throw planted(what);
    return await call();
  }

  #fails(): boolean {
    this.callCount++;
    if (Math.random() >= this.#share) return false;
    this.failedCount++;
    return true;
  }
}

function planted(what: string): NetlinkError {
  return new NetlinkError(what, { errno: ENOBUFS, detail: 'a planted failure' });
}
