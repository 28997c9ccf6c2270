/**
 * Blocks of the policy that no cluster of the oracle can reach, and why. A block is found by how
 * the line of source that it is in begins, which changes less often than that line's number. An entry
 * that is no longer needed is an error too.
 */
export interface Unreached {
  readonly file: string;
  /** With which the line begins. */
  readonly text: string;
  /** With which the block begins: its line may hold others. */
  readonly block: string;
  readonly reason: string;
}

const GATE =
  "a gate of the proxy, which the oracle's program leaves at its default; has a unit test";
const OWN_SETTING =
  'a setting that upstream does not have: kinds of addresses that are left alone; has a unit test';
const NO_NODE =
  'a setting that upstream does not have: a machine without a Node object; has a unit test';
const PROTOCOL = 'the API server admits no other protocol; upstream would keep such a port';
const OWN_ADDRESS = 'upstream decides it in its rules, not in its model; has a unit test';
const TWICE =
  'the API server admits no two ports of one name and protocol; upstream takes the last';
const FOREIGN_ADDRESS =
  "the API server admits only addresses of the slice's own family; upstream would use any other";

export const UNREACHED: readonly Unreached[] = [
  {
    file: 'src/forwarding/outcomes.ts',
    text: 'return view.isNode === false ? REJECT_WITHOUT_NODE : DROP;',
    block: '? REJECT_WITHOUT_NODE',
    reason: NO_NODE,
  },
  {
    file: 'src/forwarding/candidates.ts',
    text: "if (view.isNode === false) return 'this machine is not a node';",
    block: "return 'this machine is not a node';",
    reason: NO_NODE,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'externalIPs: view.allowExternalIPs ? ofFamily(service.externalIPs, family) : [],',
    block: ': []',
    reason: GATE,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: "loadBalancerIPs: isUnserved(view, 'load-balancer-ip') ? NONE : loadBalancerIps(service, family),",
    block: '? NONE',
    reason: OWN_SETTING,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'nodePort: hasNodePorts ? port.nodePort : 0,',
    block: ': 0',
    reason: OWN_SETTING,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: "if (isUnserved(view, 'node-port')) return 0;",
    block: 'return 0;',
    reason: OWN_SETTING,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'if (protocol === undefined) return [];',
    block: 'return [];',
    reason: PROTOCOL,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: "return text === 'TCP' || text === 'UDP' || text === 'SCTP' ? text : undefined;",
    block: ': undefined',
    reason: PROTOCOL,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'const nodeIPs = of.view.nodeIPs.flatMap((text) => parseIpSloppily(text) ?? []);',
    block: '(text) =>',
    reason: OWN_ADDRESS,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'const holdsNode = own.some((range) => nodeIPs.some((ip) => contains(range, ip)));',
    block: '(ip) =>',
    reason: OWN_ADDRESS,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'const vips = holdsNode ? of.vips.map',
    block: '? of.vips.map',
    reason: OWN_ADDRESS,
  },
  {
    file: 'src/forwarding/service-ports.ts',
    text: 'if (seen.has(key)) return false;',
    block: 'return false;',
    reason: TWICE,
  },
  {
    file: 'src/forwarding/endpoints.ts',
    text: 'if (ip === undefined || versionFamily(ip.version) !== id.family) return undefined;',
    block: 'return undefined;',
    reason: FOREIGN_ADDRESS,
  },
  {
    file: 'src/forwarding/candidates.ts',
    text: 'if (!port) return [];',
    block: 'return [];',
    reason: 'only ports that the table has a row for are asked about',
  },
  {
    file: 'src/forwarding/health.ts',
    text: 'if (protocol === undefined) continue;',
    block: 'continue;',
    reason: PROTOCOL,
  },
  {
    file: 'src/forwarding/health.ts',
    text: 'return normalizeIp(address)?.address ?? address;',
    block: '?? address',
    reason: FOREIGN_ADDRESS,
  },
];
