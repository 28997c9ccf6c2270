import { NftRefusal } from '../../linux/nftables/connection.ts';
import { PlaneError } from '../contract.ts';

/** What the kernel refused, in the words of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof NftRefusal)) return error;
  return new PlaneError(`the kernel refused: ${error.message}`, {
    code: `NFT_${error.code}`,
    next: NEXT_OF_CODE[error.code] ?? 'it is tried again; fairlead status shows what is pending',
    cause: error,
    ...(error.owner === undefined ? {} : { culprit: error.owner }),
  });
}

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'fairlead needs the capability NET_ADMIN in the network namespace it serves',
  ENOMEM: 'the kernel has no memory for it: free some, or raise the limit of the control group',
  EOPNOTSUPP: 'the kernel lacks a part of nf_tables: load nft_numgen, nft_fib, nft_nat, nft_masq',
};

export function notInspected(): PlaneError {
  return new PlaneError('the tables have not been looked at yet', {
    code: 'NFT_NOT_INSPECTED',
    next: 'this is a fault of the program: inspect comes before every other call',
  });
}
