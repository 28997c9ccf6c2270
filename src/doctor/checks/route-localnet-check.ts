import { check } from '../doctor-check.ts';
import { ok, problem } from '../finding.ts';

interface Facts {
  readonly isNeeded: boolean;
  readonly value: string;
}

const NAME = 'net/ipv4/conf/all/route_localnet';

export const ROUTE_LOCALNET = check<Facts>({
  name: 'route-localnet',
  read: ({ node, sysctls }) => ({
    isNeeded: node?.facts.nodePortsOnLocalhost === true,
    value: sysctls.read(NAME),
  }),
  judge: ({ isNeeded, value }) => {
    const what = `${NAME.replaceAll('/', '.')} = ${value}`;
    if (!isNeeded || value === '1') return [ok(isNeeded ? what : `${what}, not needed`)];
    return [
      problem('ROUTE_LOCALNET_OFF', {
        what,
        why: 'node ports on 127.0.0.1 do not answer: the kernel does not forward packets from loopback addresses',
        next: `sysctl -w ${NAME.replaceAll('/', '.')}=1, or set iptables.localhostNodePorts: false`,
      }),
    ];
  },
});
