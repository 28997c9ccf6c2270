import type { ServicePortKey } from '../../forwarding/model.ts';
import type { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import { PlaneError } from '../contract.ts';

const RETRIED = 'retried automatically; `fairlead status` shows what is pending';

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'run Fairlead with CAP_NET_ADMIN in the network namespace it serves',
  ENOMEM: 'the kernel is out of memory: free some, or raise the memory limit of the cgroup',
};

/** The kernel's rejection as an error of the contract. */
export function planeRejection(
  message: string,
  cause: NetlinkError,
  about: {
    /** Of the code: what rejected it. */
    readonly by: 'NFT' | 'NETLINK' | 'IPVS';
    /** What helps against an error of the mode's own, by its code. */
    readonly next: Readonly<Record<string, string>>;
    readonly culprit?: ServicePortKey;
    readonly unknown?: ReadonlySet<ServicePortKey>;
  },
): PlaneError {
  const { by, next, ...rows } = about;
  const { code } = cause;
  return new PlaneError(message, {
    code: `${by}_${code}`,
    next: next[code] ?? NEXT_OF_CODE[code] ?? RETRIED,
    cause,
    ...rows,
  });
}

/** The same error, which also names the rows that the kernel may have in part. */
export function withUnknown(error: PlaneError, unknown: ReadonlySet<ServicePortKey>): PlaneError {
  const { message, code, next, culprit, cause } = error;
  const about = { code, next, cause, unknown };
  return new PlaneError(message, culprit === undefined ? about : { ...about, culprit });
}

/** `what`: that the first inspection reads. */
export function notInspected(what: 'tables' | 'maps', code: string): PlaneError {
  return new PlaneError(`the ${what} have not been inspected yet`, {
    code,
    next: 'report it as a bug of Fairlead: inspect must come before every other call',
  });
}
