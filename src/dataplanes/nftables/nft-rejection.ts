import { NftRejection } from '../../linux/nftables/connection.ts';
import { PlaneError } from '../contract.ts';
import { culpritOf, notInspected as notInspectedError } from '../shared/rejections.ts';

/** A rejection by the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof NftRejection)) return error;
  return new PlaneError(`the kernel rejected a transaction: ${error.message}`, {
    code: `NFT_${error.code}`,
    next:
      NEXT_OF_CODE[error.code] ?? 'retried automatically; `fairlead status` shows what is pending',
    cause: error,
    ...culpritOf(error),
  });
}

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'run Fairlead with CAP_NET_ADMIN in the network namespace it serves',
  ENOMEM: 'the kernel is out of memory: free some, or raise the memory limit of the cgroup',
  EOPNOTSUPP:
    'load the kernel modules nft_numgen, nft_fib, nft_nat and nft_masq; in mode userspace nft_socket too',
};

export function notInspected(): PlaneError {
  return notInspectedError('tables', 'NFT_NOT_INSPECTED');
}
