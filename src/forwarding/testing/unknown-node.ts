import type { NodeView } from '../model.ts';

/** The view of a node before its Node object is read. */
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
