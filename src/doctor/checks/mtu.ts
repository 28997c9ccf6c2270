import type { MachineLink } from '../../linux/route/link-codec.ts';
import { tunnelWays } from '../../linux/route/tunnel-ways.ts';
import { check } from '../doctor-check.ts';
import { type Finding, listedNames, note, orOk, problem } from '../finding.ts';

/** Bytes that a tunnel adds to each packet, with an outer header of IPv4. */
const OVERHEAD_BYTES: Readonly<Record<string, number>> = {
  vxlan: 50,
  geneve: 50,
  ipip: 20,
  sit: 20,
  gre: 24,
  gretap: 38,
  wireguard: 60,
};

interface Facts {
  readonly podLinks: readonly MachineLink[];
  /** Links to the pods of other nodes. */
  readonly toOthers: readonly MachineLink[];
  /** Those of them that are tunnels. */
  readonly tunnels: readonly Tunnel[];
}

interface Tunnel {
  readonly link: MachineLink;
  /** The largest packet that its carrier takes; undefined: not known. */
  readonly carrierMtu: number | undefined;
}

export const MTU = check<Facts>({
  name: 'mtu',
  read: async (subject) => {
    const { links, podLinks, uplinks, endpoints } = await subject.places();
    const remote = endpoints.filter(({ isLocal, isOwnAddress }) => !isLocal && !isOwnAddress);
    const toOthers = [...new Set(remote.flatMap(({ link }) => link ?? []))];
    const carriers = uplinks.filter(({ kind }) => OVERHEAD_BYTES[kind] === undefined);
    const ways = await tunnelWays();
    const tunnels = toOthers
      .filter(({ kind }) => OVERHEAD_BYTES[kind] !== undefined)
      .map((link) => {
        const carrier = links.find(({ index }) => index === ways.get(link.index));
        return { link, carrierMtu: mtuOf(carrier === undefined ? carriers : [carrier]) };
      });
    return { podLinks, toOthers, tunnels };
  },
  judge: ({ podLinks, toOthers, tunnels }) => {
    const tooLarge = tunnels.flatMap(judgeTunnel);
    const others = toOthers.filter(({ loopback }) => !loopback);
    const least = Math.min(...others.map(({ mtu }) => mtu).filter((mtu) => mtu > 0));
    const larger = podLinks.filter(({ mtu }) => Number.isFinite(least) && mtu > least);
    const pods =
      larger.length === 0
        ? []
        : [
            note('MTU_OF_PODS_ABOVE_PATH', {
              what: `MTU ${larger[0]?.mtu} at ${listedNames(larger.map(({ name }) => name))}, ${least} on the way to pods of other nodes`,
              why: 'pods send packets that do not fit; where ICMP "fragmentation needed" is filtered, large answers hang',
              next: `set the MTU of the network plugin to ${least} or less`,
            }),
          ];
    return orOk([...tooLarge, ...pods], `MTU of ${podLinks.length} pod interfaces fits`);
  },
});

/** Of the largest, where it is not known by which one the packets leave: no problem is invented. */
function mtuOf(carriers: readonly MachineLink[]): number | undefined {
  const known = carriers.map(({ mtu }) => mtu).filter((mtu) => mtu > 0);
  return known.length === 0 ? undefined : Math.max(...known);
}

function judgeTunnel({ link, carrierMtu: room }: Tunnel): readonly Finding[] {
  const overhead = OVERHEAD_BYTES[link.kind] ?? 0;
  if (room === undefined || link.mtu + overhead <= room) return [];
  return [
    problem('MTU_OF_TUNNEL_TOO_LARGE', {
      what: `MTU ${link.mtu} of ${link.name} (${link.kind}) and ${overhead} bytes of its headers exceed ${room} of the uplink`,
      why: 'large packets to pods of other nodes are lost; small ones arrive, so connections open and then hang',
      next: `ip link set dev ${link.name} mtu ${room - overhead}, and set it in the network plugin`,
    }),
  ];
}
