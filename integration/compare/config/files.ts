/** A file of these lines, after `apiVersion` and `kind`. */
type Body = string;

const DURATIONS = [
  '0 0s 30s 15m 1h0m0s 1h1m1.5s 1.5h 1m90s .5s 1.s 10ms 100us 100µs 1500ns +5s -1s 0.3ns 2562047h',
  '- 30 1d .s s 1s1 1S 3000000h --1s null "" 1e3 true',
]
  .join(' ')
  .split(' ');

const INTEGERS = ['0', '1', '-1', '7', '1.5', '1e3', '"5"', 'null', '2147483647', '2147483648'];
const BOOLEANS = ['true', 'false', 'yes', 'no', 'on', 'null', '""', '1', '"true"'];
const LISTENERS = [
  '0.0.0.0:10256 127.0.0.1:1 "[::]:10256" "::1" 10.0.0.1 localhost:80 ":80" 0.0.0.0:0 "" null',
  '0.0.0.0:65536 010.0.0.1:80 "[fd00::1]" 1.2.3:80',
]
  .join(' ')
  .split(' ');

/** Single fields, each with texts that stand for its value in YAML; the mode is nftables. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  configSyncPeriod: DURATIONS,
  'conntrack.tcpEstablishedTimeout': ['0s', '1h', '-1s', 'null', '5'],
  'conntrack.udpTimeout': ['0s', '30s', '-1s'],
  'conntrack.maxPerCore': INTEGERS,
  'conntrack.min': INTEGERS,
  'conntrack.tcpBeLiberal': BOOLEANS,
  'nftables.syncPeriod': ['1s', '0s', '-1s', 'null'],
  'nftables.minSyncPeriod': ['0s', '1s', '31s', '-1s'],
  'nftables.masqueradeBit': ['0', '14', '31', '32', '-1', 'null'],
  'nftables.masqueradeAll': BOOLEANS,
  'iptables.masqueradeBit': ['99', 'null'],
  'iptables.localhostNodePorts': BOOLEANS,
  bindAddress: [
    '0.0.0.0',
    '"::"',
    '10.0.0.1',
    '010.0.0.1',
    'fd00::1',
    'foo',
    '""',
    'null',
    '1.2.3',
  ],
  healthzBindAddress: LISTENERS,
  metricsBindAddress: LISTENERS,
  bindAddressHardFail: BOOLEANS,
  oomScoreAdj: ['-999', '0', '1000', '1001', '-1001', 'null', '"1"'],
  clusterCIDR: [
    '10.0.0.0/8',
    '10.0.0.0/8,fd00::/8',
    '"10.0.0.0/8, fd00::/8"',
    '10.0.0.0/8,11.0.0.0/8',
    '10.0.0.0',
    '""',
    '010.0.0.0/8',
    '10.1.2.3/8',
    '10.0.0.0/33',
  ],
  detectLocalMode: ['ClusterCIDR', 'NodeCIDR', 'clustercidr', 'BridgeInterface', '""', 'x'],
  nodePortAddresses: [
    '[primary]',
    '[localhost]',
    '[all]',
    '[primary, localhost, all, 10.0.0.0/8, fd00::/8]',
    '[10.0.0.0/8, primary]',
    '[primary, primary]',
    '[all, localhost, all]',
    '[Primary]',
    '["primary "]',
    '[none]',
    '[10.0.0.0]',
    '[10.0.0.0/8, 10.0.0.0/8]',
    '["::1/128", 127.0.0.0/8]',
    '[]',
    'null',
    'primary',
    '[null]',
    '[""]',
  ],
  featureGates: [
    '{}',
    'null',
    '{AllowServiceExternalIPs: false}',
    '{ComponentFlagz: false, ComponentStatusz: false}',
    '{KubeProxyIPVS: false}',
    '{KubeProxyIPVS: true}',
    '{KubeProxyNFTablesLocalhostNodePorts: true}',
    '{NFTablesNetlink: false}',
    '{NFTablesProxyMode: true}',
    '{NFTablesProxyMode: false}',
    '{MultiCIDRServiceAllocator: false}',
    '{PreferSameTrafficDistribution: false}',
    '{NoSuchGate: true}',
    '{SidecarContainers: true}',
    '{AllAlpha: true}',
    '{AllowServiceExternalIPs: "false"}',
    '[]',
  ],
  'clientConnection.burst': INTEGERS,
  'clientConnection.qps': ['5', '0.5', '-1', '"5"'],
  'clientConnection.kubeconfig': ['/x', '""', 'null', '7'],
  'logging.format': ['text', 'json', 'xml', '""'],
  'logging.verbosity': ['0', '10', '-1', '"1"'],
  'ipvs.excludeCIDRs': ['[x]', 'null', '[10.0.0.0/8]'],
  'ipvs.tcpTimeout': ['-1s', '5s'],
  enableProfiling: BOOLEANS,
  hostnameOverride: ['a', '" B "', '123', '2026-01-01', '1:30', 'null'],
  showHiddenMetricsForVersion: ['""', '"1.36"', '"1.35"', 'x'],
  winkernel: ['null', '{}', '{enableDSR: true}'],
  unknownField: ['1', 'null', '{a: b}'],
};

/** What takes more than one field, or no mode. */
const BODIES: readonly Body[] = [
  'mode: iptables',
  'mode: nftables',
  'mode: ipvs',
  'mode: ""',
  'mode: userspace',
  'mode: kernelspace',
  'mode: NFTables',
  'mode: 7',
  'mode: ipvs\nfeatureGates: {KubeProxyIPVS: false}',
  'mode: ipvs\nfeatureGates: {KubeProxyIPVS: true}',
  'mode: ipvs\nipvs: {excludeCIDRs: [x]}',
  'mode: ipvs\nipvs: {tcpTimeout: -1s}',
  'mode: ipvs\nnodePortAddresses: [localhost, all]',
  'mode: iptables\nnodePortAddresses: [all, primary]',
  'mode: iptables\nnodePortAddresses: [primary, x]',
  'mode: iptables\niptables: {syncPeriod: 1s, minSyncPeriod: 5s}',
  'mode: nftables\nmode: iptables',
  'Mode: ipvs\nmode: iptables',
  'mode: nftables\ndetectLocalMode: NodeCIDR\nclusterCIDR: nonsense',
  'mode: nftables\ndetectLocalMode: BridgeInterface\ndetectLocal: {bridgeInterface: cni0}',
  'mode: nftables\ndetectLocalMode: InterfaceNamePrefix\ndetectLocal: {interfaceNamePrefix: veth}',
  'mode: nftables\ndetectLocalMode: InterfaceNamePrefix',
  'mode: nftables\nfairlead: {mode: tc-ebpf}',
  '<<: {mode: ipvs}',
];

/** Every small file that both programs are given. */
export function smallFiles(): readonly Body[] {
  const single = Object.entries(VALUES).flatMap(([path, texts]) =>
    texts.map((text) => `mode: nftables\n${nested(path.split('.'), text)}`),
  );
  return [...BODIES, ...single];
}

function nested([name = '', ...rest]: readonly string[], text: string): string {
  return rest.length === 0 ? `${name}: ${text}` : `${name}: {${nested(rest, text)}}`;
}
