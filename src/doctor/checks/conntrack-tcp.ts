import { check } from '../check.ts';
import { note, ok } from '../finding.ts';

const NAME = 'net/netfilter/nf_conntrack_tcp_loose';

export const CONNTRACK_TCP = check<string>({
  name: 'conntrack-tcp',
  read: ({ sysctls }) => sysctls.read(NAME),
  judge: (value) => {
    const what = `${NAME.replaceAll('/', '.')} = ${value}`;
    if (value !== '0') return [ok(what)];
    return [
      note('TCP_LOOSE_OFF', {
        what,
        why: 'an open connection whose conntrack entry was deleted hangs until its timeout instead of being reset',
        next: `sysctl -w ${NAME.replaceAll('/', '.')}=1`,
      }),
    ];
  },
});
