import type { NodeView } from '../model.ts';

/** The view of a node of which nothing is known but its name, until its object has been read. */
export function unknownNode(nodeName: string): NodeView {
  return {
    nodeName,
    zone: '',
    nodeIPs: [],
    detectsPods: { IPv4: true, IPv6: true },
    masqueradeAll: false,
    allowExternalIPs: true,
    addressRules: 'strict',
    serviceRanges: [],
  };
}
