import type { Family } from '../../forwarding/model.ts';

/**
 * Where the forwarder listens. They exist as local routes only, and on no interface: a `redirect`
 * takes the address of the incoming interface, and drops the packet where there is none.
 */
export const FORWARDER_ADDRESSES: Readonly<Record<Family, string>> = {
  IPv4: '169.254.118.118',
  IPv6: 'fdfa:118:118::118',
};
