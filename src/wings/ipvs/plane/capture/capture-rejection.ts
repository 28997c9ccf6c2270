import { PlaneError } from '../../../../dataplanes/contract.ts';
import { NetlinkError } from '../../../../linux/netlink/errors.ts';
import { NftRejection } from '../../../../linux/nftables/connection.ts';

/** A rejection by the kernel as an error of the contract; any other error as it is. */
export function asPlaneError(error: unknown): unknown {
  if (!(error instanceof NetlinkError)) return error;
  const what = error instanceof NftRejection ? 'a transaction' : 'a request';
  return new PlaneError(`the kernel rejected ${what} on the capture of ipvs: ${error.message}`, {
    code: `${error instanceof NftRejection ? 'NFT' : 'NETLINK'}_${error.code}`,
    next:
      NEXT_OF_CODE[error.code] ?? 'retried automatically; `fairlead status` shows what is pending',
    cause: error,
  });
}

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'run Fairlead with CAP_NET_ADMIN in the network namespace it serves',
  ENOMEM: 'the kernel is out of memory: free some, or raise the memory limit of the cgroup',
  EOPNOTSUPP:
    'load the kernel modules nft_fib, nft_ct, nft_nat, nft_masq and nft_reject; policy routing must be built in',
};
