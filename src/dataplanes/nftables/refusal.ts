import { NftRefusal } from '../../linux/nftables/connection.ts';
import { PlaneError } from '../contract.ts';
import { culpritOf, notInspected as notInspectedError } from '../shared/rejections.ts';

/** A rejection by the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof NftRefusal)) return error;
  return new PlaneError(`the kernel refused: ${error.message}`, {
    code: `NFT_${error.code}`,
    next:
      NEXT_OF_CODE[error.code] ??
      'nothing: it is retried; `fairlead status` shows the rows that wait',
    cause: error,
    ...culpritOf(error),
  });
}

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'fairlead needs the capability NET_ADMIN in the network namespace it serves',
  ENOMEM: 'free memory on the node, or raise the memory limit of the cgroup',
  EOPNOTSUPP: 'the kernel lacks a part of nf_tables: load nft_numgen, nft_fib, nft_nat, nft_masq',
};

export function notInspected(): PlaneError {
  return notInspectedError('tables', 'NFT_NOT_INSPECTED');
}
