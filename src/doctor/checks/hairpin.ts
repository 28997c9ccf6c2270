import type { Bridge } from '../../linux/route/bridge-links.ts';
import { check } from '../doctor-check.ts';
import { listedNames, note, orOk } from '../finding.ts';
import { podBridges } from './bridge-netfilter.ts';

export const HAIRPIN = check<readonly Bridge[]>({
  name: 'hairpin',
  read: podBridges,
  judge: (bridges) => {
    const found = bridges.flatMap(({ name, ports, isPromiscuous }) => {
      const off = ports.filter(({ hairpin }) => !hairpin);
      if (off.length === 0 || isPromiscuous) return [];
      const names = listedNames(off.map((port) => port.name));
      return [
        note('HAIRPIN_OFF', {
          what: `hairpin is off at ${off.length} of ${ports.length} ports of ${name}: ${names}`,
          why: 'a pod that its own Service sends to itself gets no answer: the bridge does not send a packet back',
          next: `bridge link set dev ${off[0]?.name} hairpin on; for new pods hairpinMode in the configuration of the network plugin`,
        }),
      ];
    });
    const ports = bridges.reduce((sum, bridge) => sum + bridge.ports.length, 0);
    return orOk(found, ports === 0 ? 'no pods on bridges' : `hairpin: ${ports} bridge ports`);
  },
});
