import { FAIRLEAD_PROXIES, type FairleadProxy } from '../../lab/proxies/fairlead-modes.ts';

/**
 * What each proxy leaves to code that other proxies share. Everything else it implements on its own
 * path, so a trait that is not named here counts as its own: a new one is run, not skipped.
 */
export interface OwnPath {
  /** Proxies whose name is this, or begins with it and a dash (a backend, an earlier version). */
  readonly proxy: string;
  /** Whose known differences are a reason to run a scenario here as well. */
  readonly counterpart: string;
  readonly sharedAskers: readonly string[];
  readonly sharedTargets: readonly string[];
  readonly sharedProtocols: readonly string[];
  /** Whole qualities, or their names in front of `=`. */
  readonly sharedQualities: readonly string[];
}

/** The agent answers health checks, and pod addresses need no proxy. */
const NOT_FORWARDED = ['healthCheck', 'http', 'podIP'];

/** Which endpoints a Service has, and which Services are served at all: `src/forwarding/`. */
const POLICY = [
  'trafficDistribution',
  'publishNotReadyAddresses',
  'selector',
  'clusterIP',
  'externalName',
  'ipFamilyPolicy',
  'type',
  'label service.kubernetes.io/service-proxy-name',
  'healthCheckNodePort',
  'allocateLoadBalancerNodePorts',
  'after taintNode',
  'zone',
  'namespaces',
  'services',
];

/** Questions of these the rules of nftables answer, behind the programs. */
const BEHIND_PROGRAMS = ['loadBalancerSourceRanges', 'detectLocalMode', 'masqueradeAll'];

/** Made into rules by the same code, whichever backend takes them. */
const SETTINGS = [
  'detectLocalMode',
  'masqueradeAll',
  'nodePortAddresses',
  'localhostNodePorts',
  'addressRules',
  'podNetwork',
];

const FROM_OTHER_HOSTS = ['client', 'machine', 'outside neighbour'];

/** The first that fits counts, so a name that begins with another one comes before it. */
export const OWN_PATHS: readonly OwnPath[] = [
  ...FAIRLEAD_PROXIES.map(ownPath).sort((a, b) => b.proxy.length - a.proxy.length),
  // Upstream shares nothing with Fairlead, and its variants share the policy.
  {
    proxy: 'upstream-nftables',
    counterpart: 'fairlead-nftables',
    sharedAskers: [],
    sharedTargets: [],
    sharedProtocols: [],
    sharedQualities: [],
  },
  {
    proxy: 'upstream-iptables',
    counterpart: 'fairlead-iptables',
    sharedAskers: [],
    sharedTargets: [],
    sharedProtocols: [],
    sharedQualities: [],
  },
  {
    proxy: 'upstream-ipvs',
    counterpart: 'fairlead-ipvs',
    sharedAskers: [],
    sharedTargets: [],
    sharedProtocols: [],
    sharedQualities: [],
  },
];

function ownPath({ name, counterpart, ...of }: FairleadProxy): OwnPath {
  return {
    proxy: name,
    counterpart,
    // Hooks at sockets: packets from outside meet the rules of nftables only.
    sharedAskers: of.hooks === 'sockets' ? FROM_OTHER_HOSTS : [],
    sharedTargets: NOT_FORWARDED,
    // A forwarder takes TCP connections, programs take TCP and UDP; the rules behind them translate
    // everything else.
    sharedProtocols: of.hasForwarder ? ['UDP', 'SCTP'] : of.hasPrograms ? ['SCTP'] : [],
    sharedQualities: [
      ...POLICY,
      ...(of.isLegacy ? SETTINGS : []),
      ...(of.hasPrograms ? BEHIND_PROGRAMS : []),
    ],
  };
}
