import { PlaneError } from '../../../dataplanes/contract.ts';
import { notInspected as notInspectedError } from '../../../dataplanes/shared/rejections.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import { IpvsError } from '../../../linux/ipvs/errors.ts';
import { type IpvsRejection, virtualServerId } from '../../../linux/ipvs/model.ts';
import { NetlinkError, NetlinkRejection } from '../../../linux/netlink/errors.ts';
import { destinationId } from './server-state.ts';

const RETRIED = 'retried automatically; `fairlead status` shows what is pending';

/** Rows that the kernel may have in part. */
type Unknown = ReadonlySet<ServicePortKey>;

/** `culprit`: the row of the first one. */
export function rejectionError(
  rejections: readonly [IpvsRejection, ...IpvsRejection[]],
  about: { readonly culprit: ServicePortKey; readonly unknown: Unknown },
): PlaneError {
  const [first, ...more] = rejections;
  const cause = new NetlinkRejection(describe(first), first);
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return new PlaneError(`IPVS rejected ${cause.message}${others}`, {
    code: `IPVS_${cause.code}`,
    next: NEXT_OF_CODE[cause.code] ?? RETRIED,
    cause,
    ...about,
  });
}

/** An error of the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown, unknown?: Unknown): unknown {
  const more = unknown === undefined || unknown.size === 0 ? {} : { unknown };
  if (error instanceof PlaneError) {
    const { message, code, next, culprit, cause } = error;
    const about = { code, next, cause, ...more, ...(culprit === undefined ? {} : { culprit }) };
    return unknown === undefined ? error : new PlaneError(message, about);
  }
  if (error instanceof IpvsError) {
    const { message, code, next } = error;
    return new PlaneError(message, { code, next, cause: error, ...more });
  }
  if (!(error instanceof NetlinkError)) return error;
  return new PlaneError(`a request to IPVS failed: ${error.message}`, {
    code: `IPVS_${error.code}`,
    next: NEXT_OF_CODE[error.code] ?? RETRIED,
    cause: error,
    ...more,
  });
}

export function notInspected(): PlaneError {
  return notInspectedError('tables', 'IPVS_NOT_INSPECTED');
}

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'run Fairlead with CAP_NET_ADMIN in the network namespace it serves',
  ENOMEM: 'the kernel is out of memory: free some, or raise the memory limit of the cgroup',
  ENOENT: 'load the module of the scheduler, such as ip_vs_rr; other causes are retried',
};

/** `add-server of virtual server 10.96.0.1 TCP 80 (scheduler rr): EINVAL`. */
export function rejectionText(rejection: IpvsRejection): string {
  return new NetlinkRejection(describe(rejection), rejection).message;
}

function describe({ write }: IpvsRejection): string {
  const server = `virtual server ${virtualServerId(write.server)}`;
  if ('destination' in write) return `${write.do} ${destinationId(write.destination)} of ${server}`;
  const scheduler = write.do === 'delete-server' ? '' : ` (scheduler ${write.server.scheduler})`;
  return `${write.do} of ${server}${scheduler}`;
}
