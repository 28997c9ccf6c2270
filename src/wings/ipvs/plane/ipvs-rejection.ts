import { PlaneError } from '../../../dataplanes/contract.ts';
import {
  notInspected as notInspectedError,
  planeRejection,
  withUnknown,
} from '../../../dataplanes/shared/rejections.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import { IpvsError } from '../../../linux/ipvs/ipvs-error.ts';
import { type IpvsRejection, virtualServerId } from '../../../linux/ipvs/ipvs-model.ts';
import { NetlinkError, NetlinkRejection } from '../../../linux/netlink/netlink-error.ts';
import { NftRejection } from '../../../linux/nftables/nft-connection.ts';
import { destinationId } from './server-state.ts';

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
  return planeRejection(`IPVS rejected ${cause.message}${others}`, cause, { ...OF_IPVS, ...about });
}

/** An error of the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown, unknown?: Unknown): unknown {
  const more = unknown === undefined || unknown.size === 0 ? {} : { unknown };
  if (error instanceof PlaneError) {
    return more.unknown === undefined ? error : withUnknown(error, more.unknown);
  }
  if (error instanceof IpvsError) {
    const { message, code, next } = error;
    return new PlaneError(message, { code, next, cause: error, ...more });
  }
  if (!(error instanceof NetlinkError)) return error;
  const message = `a request to IPVS failed: ${error.message}`;
  return planeRejection(message, error, { ...OF_IPVS, ...more });
}

/** The same for the tables of the capture. */
export function asCaptureError(error: unknown): unknown {
  if (!(error instanceof NetlinkError)) return error;
  const isTransaction = error instanceof NftRejection;
  const what = isTransaction ? 'a transaction' : 'a request';
  const message = `the kernel rejected ${what} on the capture of ipvs: ${error.message}`;
  return planeRejection(message, error, { ...OF_CAPTURE, by: isTransaction ? 'NFT' : 'NETLINK' });
}

export function notInspected(): PlaneError {
  return notInspectedError('tables', 'IPVS_NOT_INSPECTED');
}

const OF_IPVS = {
  by: 'IPVS',
  next: { ENOENT: 'load the module of the scheduler, such as ip_vs_rr; other causes are retried' },
} as const;

const OF_CAPTURE = {
  next: {
    EOPNOTSUPP:
      'load the kernel modules nft_fib, nft_ct, nft_nat, nft_masq and nft_reject; policy routing must be built in',
  },
} as const;

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
