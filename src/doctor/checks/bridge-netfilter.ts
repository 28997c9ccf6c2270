import type { Family } from '../../forwarding/model.ts';
import { type Bridge, listBridges } from '../../linux/route/bridge-links.ts';
import { check } from '../doctor-check.ts';
import { type Finding, ok, problem } from '../finding.ts';
import { familiesOf, type Subject } from '../subject.ts';
import { sysctlIfThere } from '../sysctl-if-there.ts';

const SYSCTLS: Readonly<Record<Family, string>> = {
  IPv4: 'net/bridge/bridge-nf-call-iptables',
  IPv6: 'net/bridge/bridge-nf-call-ip6tables',
};

interface Facts {
  readonly families: readonly Family[];
  /** Bridges that lead to pods. */
  readonly bridges: readonly Bridge[];
  /** Undefined: the module br_netfilter is not loaded. */
  readonly calls: Readonly<Record<Family, string | undefined>>;
}

export const BRIDGE_NETFILTER = check<Facts>({
  name: 'bridge-netfilter',
  read: async (subject) => ({
    families: familiesOf(subject),
    bridges: await podBridges(subject),
    calls: {
      IPv4: sysctlIfThere(subject, SYSCTLS.IPv4),
      IPv6: sysctlIfThere(subject, SYSCTLS.IPv6),
    },
  }),
  judge: ({ families, bridges, calls }) => {
    if (bridges.length === 0) return [ok('no pods on bridges')];
    return families.flatMap((family): readonly Finding[] => {
      const value = calls[family];
      const name = SYSCTLS[family].replaceAll('/', '.');
      const without = bridges.filter(({ callsNetfilter }) => !callsNetfilter[family]);
      if (value === '1' || without.length === 0) return [ok(`${name} = ${value ?? 'absent'}`)];
      return [
        problem('BRIDGE_NETFILTER_OFF', {
          what: `${name} ${value === undefined ? 'is absent: br_netfilter is not loaded' : `= ${value}`}`,
          why: `pods on ${without.map((bridge) => bridge.name).join(', ')} get answers of other pods there untranslated, and reset the connection`,
          next: `modprobe br_netfilter; sysctl -w ${name}=1, and in /etc/sysctl.d to keep it`,
        }),
      ];
    });
  },
});

export async function podBridges(subject: Subject): Promise<readonly Bridge[]> {
  const { podLinks } = await subject.places();
  const indexes = new Set(podLinks.map(({ index }) => index));
  return (await listBridges()).filter(({ index }) => indexes.has(index));
}
