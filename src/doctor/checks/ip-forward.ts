import type { Family } from '../../forwarding/model.ts';
import { check } from '../doctor-check.ts';
import { type Finding, orOk, problem } from '../finding.ts';
import { familiesOf } from '../subject.ts';
import { sysctlIfThere } from '../sysctl-if-there.ts';

interface Facts {
  readonly forwarding: readonly {
    readonly family: Family;
    /** As sysctl writes it. */
    readonly name: string;
    readonly value: string;
    /** Undefined: the whole machine. */
    readonly link?: string;
  }[];
}

const WHOLE: Readonly<Record<Family, string>> = {
  IPv4: 'net/ipv4/ip_forward',
  IPv6: 'net/ipv6/conf/all/forwarding',
};

export const IP_FORWARD = check<Facts>({
  name: 'ip-forward',
  read: async (subject) => {
    const { podLinks, uplinks } = await subject.places();
    const forwarding = familiesOf(subject).flatMap((family) => {
      const read = (path: string, link?: string) => {
        const value = sysctlIfThere(subject, path);
        if (value === undefined) return [];
        const name = path.replaceAll('/', '.');
        return [{ family, name, value, ...(link === undefined ? {} : { link }) }];
      };
      // In IPv6 the setting of an interface only says whether the node is a router there.
      const links = family === 'IPv4' ? [...podLinks, ...uplinks].map(({ name }) => name) : [];
      return [
        ...read(WHOLE[family]),
        // A dot in the name of an interface is a dot in the path too.
        ...links.flatMap((link) => read(`net/ipv4/conf/${link}/forwarding`, link)),
      ];
    });
    return { forwarding };
  },
  judge: ({ forwarding }) => {
    const off = forwarding.filter(({ value }) => value === '0');
    const offWhole = new Set(off.filter(({ link }) => link === undefined).map((f) => f.family));
    // Where the whole machine is off, each of its interfaces is.
    const told = off.filter(({ link, family }) => link === undefined || !offWhole.has(family));
    const whole = forwarding.filter(({ link }) => link === undefined);
    return orOk(told.map(finding), whole.map(({ name, value }) => `${name} = ${value}`).join(', '));
  },
});

function finding({ name, value, link, family }: Facts['forwarding'][number]): Finding {
  const what = `${name} = ${value}`;
  const next = `sysctl -w ${name}=1, and in /etc/sysctl.d to keep it`;
  if (link === undefined) {
    const why = `the kernel drops ${family} packets between pods, and from outside to pods`;
    return problem('IP_FORWARD_OFF', { what, why, next });
  }
  const why = `the kernel does not forward ${family} packets that come in by ${link}`;
  return problem('IP_FORWARD_OFF_LINK', { what, why, next });
}
