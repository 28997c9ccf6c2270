import type { Family } from '../../forwarding/model.ts';

/**
 * Where the forwarder of mode userspace listens. They are addresses of no interface, only local
 * routes lead to them, so its ports are open on no address of the machine. nftables' `redirect` would
 * need none, but it drops packets that came in by an interface without an address.
 */
export const FORWARDER_ADDRESSES: Readonly<Record<Family, string>> = {
  IPv4: '169.254.118.118',
  IPv6: 'fdfa:118:118::118',
};
