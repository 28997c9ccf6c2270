import { LabError } from '../lab/host/errors.ts';
import type { Lab } from '../lab/lab.ts';
import type { LoadSize } from '../lab/load/objects.ts';
import type { ProxyVariant } from '../lab/proxies/contract.ts';
import { fairlead } from '../lab/proxies/fairlead.ts';
import { FAIRLEAD_PROXIES, type FairleadProxy } from '../lab/proxies/fairlead-modes.ts';
import { findProxy } from '../lab/proxies/registry.ts';
import { SHIPPED_AS } from './bundle.ts';
import { ciliumAgent } from './cilium/agent.ts';
import { makeResources, wipeCilium } from './cilium/place.ts';

/** A proxy and what may be asked of it. */
export interface Contestant {
  readonly name: string;
  readonly isOurs: boolean;
  /** With more Services it is not run; the tables say why in place of a figure. */
  readonly mostServices: number;
  readonly whyNotMore: string;
  /** A proxy that has not answered by then is ended. */
  readonly startBoundMs: number;
  /** Changes of one round, and the pause between two of them. */
  readonly changes: number;
  readonly quietMs: number;
  /** From this number of Services on, one round: more would take an hour. */
  readonly oneRoundFrom: number;
  readonly rules: 'nftables' | 'iptables';
  /** Rules on the legacy backend of iptables, which `nft flush ruleset` does not reach. */
  readonly isLegacy: boolean;
  /** It has programs and maps in the kernel, which no bare program writes again. */
  readonly isEbpf: boolean;
  readonly needsIpvs: boolean;
  /** It has metrics of kube-proxy's names, from which the stages of a change are read. */
  readonly hasStages: boolean;
  /** It compiles its programs after its start, while it serves already. */
  readonly compiles?: true;
  readonly variant: (program: readonly string[]) => ProxyVariant;
  /** Makes what it needs in the cluster, before each start; not given: nothing. */
  readonly makeReady?: (lab: Lab) => Promise<void>;
  /** Deletes what it leaves in a node's network besides rules and pins; not given: nothing. */
  readonly wipe?: (namespacePath: string) => Promise<void>;
}

const OUR_CHANGES = 100;
const OUR_QUIET_MS = 50;
const UPSTREAM_CHANGES = 10;
const CILIUM_CHANGES = 20;
/** Longer than it gathers events by default. */
const CILIUM_QUIET_MS = 600;
/** Longer than its least time between two syncs, which it would else spend waiting. */
const UPSTREAM_QUIET_MS = 1_500;
const START_BOUND_MS = 300_000;
const UNLIMITED = Number.POSITIVE_INFINITY;
const ANY_SIZE = { mostServices: UNLIMITED, whyNotMore: '' } as const;

/** Larger ones have kept a CPU in the kernel for a quarter of an hour, where no signal reaches the process. */
const UPSTREAM_NFTABLES = {
  mostServices: 10_000,
  whyNotMore: 'locks up the kernel',
} as const;
const IPTABLES_NFT = {
  mostServices: 5_000,
  whyNotMore: 'locks up the kernel',
} as const;
const IPTABLES_LEGACY = {
  mostServices: 10_000,
  whyNotMore: 'takes seconds a change',
} as const;

/** The value that its own tests use. */
const SHORT_WAIT_MS = 10;

/** Each proxy of Fairlead, and beside it the variant of kube-proxy in the same mode; and Cilium. */
const CONTESTANTS: readonly Contestant[] = [
  ...FAIRLEAD_PROXIES.filter(({ forwarder }) => forwarder !== 'dead').flatMap((proxy) => [
    ours(proxy),
    ...(proxy.isOfKubeProxy ? [upstream(proxy)] : []),
  ]),
  cilium('cilium'),
  cilium(`cilium-${SHORT_WAIT_MS}ms`, SHORT_WAIT_MS),
];

const CONTESTANT_NAMES: readonly string[] = CONTESTANTS.map(({ name }) => name);

/** The legacy backend shows nothing that the nft backend does not show; IPVS needs another kernel. */
export const PUBLISHED: readonly Contestant[] = CONTESTANTS.filter(
  ({ isLegacy, needsIpvs }) => !isLegacy && !needsIpvs,
);
export const PUBLISHED_PROXIES = PUBLISHED.map(({ name }) => name).join(',');

export function parseProxies(text: string): Contestant[] {
  return text.split(',').map((part) => {
    const found = CONTESTANTS.find(({ name }) => name === part.trim());
    if (found) return found;
    throw new LabError('LAB_USAGE', `there is no proxy named '${part}'`, {
      next: `choose some of: ${CONTESTANT_NAMES.join(', ')}`,
    });
  });
}

/** Undefined: it may be run. */
export function whyNotRun(contestant: Contestant, size: LoadSize): string | undefined {
  if (size.services <= contestant.mostServices) return undefined;
  return `not run: ${contestant.whyNotMore}`;
}

function ours(proxy: FairleadProxy): Contestant {
  const { name, mode, iptables } = proxy;
  return {
    ...common(name, proxy),
    ...(proxy.rules === 'iptables' ? iptablesLimit(proxy) : ANY_SIZE),
    isOurs: true,
    // A forwarder has a benchmark of its own, `forwarding`.
    oneRoundFrom: proxy.hasForwarder ? 0 : UNLIMITED,
    changes: OUR_CHANGES,
    quietMs: OUR_QUIET_MS,
    variant: (program) =>
      fairlead({
        name,
        description: `Fairlead, ${mode} mode: ${SHIPPED_AS}`,
        mode,
        program,
        ...(iptables ? { iptables } : {}),
      }),
  };
}

function upstream(proxy: FairleadProxy): Contestant {
  const { counterpart } = proxy;
  const isIptables = proxy.rules === 'iptables';
  return {
    ...common(counterpart, proxy),
    ...(isIptables ? iptablesLimit(proxy) : UPSTREAM_NFTABLES),
    isOurs: false,
    oneRoundFrom: isIptables ? 5_000 : UNLIMITED,
    changes: UPSTREAM_CHANGES,
    quietMs: UPSTREAM_QUIET_MS,
    variant: () => findProxy(counterpart),
  };
}

function cilium(name: string, waitMs?: number): Contestant {
  const wait = waitMs === undefined ? {} : { waitMs };
  return {
    name,
    ...ANY_SIZE,
    isOurs: false,
    hasStages: false,
    compiles: true,
    startBoundMs: START_BOUND_MS,
    changes: CILIUM_CHANGES,
    quietMs: CILIUM_QUIET_MS,
    // With two rounds of it the published run would take more than an hour.
    oneRoundFrom: 0,
    rules: 'nftables',
    isLegacy: false,
    isEbpf: true,
    needsIpvs: false,
    variant: () => ciliumAgent({ name, ...wait }),
    makeReady: makeResources,
    wipe: wipeCilium,
  };
}

function iptablesLimit({ isLegacy }: FairleadProxy) {
  return isLegacy ? IPTABLES_LEGACY : IPTABLES_NFT;
}

function common(name: string, { rules, isLegacy, hasPrograms, needsIpvs }: FairleadProxy) {
  return {
    name,
    hasStages: true,
    startBoundMs: START_BOUND_MS,
    rules,
    isLegacy,
    isEbpf: hasPrograms,
    needsIpvs,
  };
}
