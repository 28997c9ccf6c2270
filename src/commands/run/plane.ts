import type { Mode } from '../../config/modes.ts';
import type { DataPlane } from '../../dataplanes/contract.ts';
import { NftablesPlane } from '../../dataplanes/nftables/plane.ts';
import { openNetlink } from '../../linux/netlink/socket.ts';
import { NETLINK_NETFILTER, NFNLGRP_NFTABLES } from '../../linux/nftables/protocol.ts';
import { CommandError } from '../command-error.ts';

/** Fifty thousand elements deleted at once must fit, or nobody knows which they were. */
const EVENT_BUFFER_BYTES = 16 * 1024 * 1024;

export function openPlane(mode: Mode): DataPlane {
  if (mode === 'nftables') return nftablesPlane();
  throw new CommandError(`mode ${mode} is not there yet`, {
    code: 'MODE_MISSING',
    next: 'use nftables: mode: nftables in the file, or --proxy-mode nftables',
  });
}

function nftablesPlane(): DataPlane {
  return new NftablesPlane({
    openNetlink: (kind) =>
      openNetlink(
        kind === 'requests'
          ? { protocol: NETLINK_NETFILTER }
          : {
              protocol: NETLINK_NETFILTER,
              groups: [NFNLGRP_NFTABLES],
              receiveBufferBytes: EVENT_BUFFER_BYTES,
            },
      ),
  });
}
