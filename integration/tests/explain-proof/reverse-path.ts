import { ip, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { macOf } from './mac-of.ts';
import { NODE } from './shop.ts';

/** The node expects this address behind another interface. */
const SOURCE = '203.0.113.9';
const NETWORK = '203.0.113.0/24';

/** What undoes it afterwards, such as a test. */
interface Repaired {
  after(repair: () => void): void;
}

/** From now on `outside` connects to `address` from an address that rp_filter of the node drops. */
export function plantReversePath(t: Repaired, outside: PlacedHost, address: string): string {
  ip(`route add ${NETWORK} dev pod-3`);
  outside.ip(
    `addr add ${SOURCE}/32 dev lo`,
    `route add ${address} via ${NODE.ipv4} src ${SOURCE}`,
    // The filter drops ARP requests of this address as well.
    `neigh replace ${NODE.ipv4} lladdr ${macOf('eth0')} dev eth0 nud permanent`,
  );
  run(['sysctl', '-qw', 'net.ipv4.conf.eth0.rp_filter=1']);
  t.after(() => {
    run(['sysctl', '-qw', 'net.ipv4.conf.eth0.rp_filter=0']);
    ip(`route del ${NETWORK} dev pod-3`);
    outside.ip(`route del ${address}`, `addr del ${SOURCE}/32 dev lo`);
  });
  return SOURCE;
}
