import { hooksInFront } from './hooks-in-front.ts';
import { PACKET_HOOKS_PART } from './hooks-part.ts';
import { PodNetwork } from './plane/maps/pod-network-entry.ts';

export const TC_EBPF = hooksInFront({
  name: 'tc-ebpf',
  part: PACKET_HOOKS_PART,
  hooks: 'packet hooks',
  socketsOf: 'this node',
  unseenSources: ['host'],
  packetHook: 'ingress',
  placeOf: ({ clientInterfaces, ownAddresses, podNetworks = [] }) => ({
    podsMet: 'as packets',
    podNetwork: new PodNetwork(podNetworks),
    onlyOwnSockets: clientInterfaces?.length === 0,
    ownAddresses: new Set(ownAddresses),
  }),
});
