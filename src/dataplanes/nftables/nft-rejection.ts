import { NftRejection } from '../../linux/nftables/nft-connection.ts';
import type { PlaneError } from '../contract.ts';
import { notInspected as notInspectedError, planeRejection } from '../shared/rejections.ts';

/** A rejection by the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof NftRejection)) return error;
  const { owner } = error;
  return planeRejection(`the kernel rejected a transaction: ${error.message}`, error, {
    by: 'NFT',
    next: NEXT_OF_CODE,
    // The operation belongs to no row, or to one.
    ...(owner === undefined || owner === '' ? {} : { culprit: owner }),
  });
}

const NEXT_OF_CODE = {
  EOPNOTSUPP:
    'load the kernel modules nft_numgen, nft_fib, nft_nat and nft_masq; in mode userspace nft_socket too',
};

export function notInspected(): PlaneError {
  return notInspectedError('tables', 'NFT_NOT_INSPECTED');
}
