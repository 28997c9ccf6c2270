/** What CI runs of one proxy, with budgets in seconds. A new mode is a new row here. */
export interface ProxyBudget {
  readonly name: string;
  /** The scenarios in which it could differ, on landing. */
  readonly differing?: number;
  /** Of these only the ones with a known difference: all others by night. */
  readonly onlyKnown?: true;
  /** Run in the User-mode Linux of the lab: the kernel of the machine may lack what it needs. */
  readonly inGuest?: true;
  /** Every scenario; on landing too for the first proxy. */
  readonly conformance: number;
  readonly sabotage?: number;
  readonly faults?: number;
  /** One tenant at the bounds of the mode. */
  readonly bounds?: number;
  readonly e2e?: number;
}

/** The one of which everything is run on landing. */
export const FIRST_PROXY = 'fairlead-nftables';
const PROXY_WITH_FORWARDER = 'fairlead-userspace';

export const PROXIES: readonly ProxyBudget[] = [
  { name: FIRST_PROXY, conformance: 240, sabotage: 420, faults: 2_700, bounds: 120, e2e: 900 },
  // By night alone: on landing its rules are compared with kube-proxy's, one by one.
  { name: 'fairlead-iptables', conformance: 320, sabotage: 420, e2e: 900 },
  // By night alone: its rules are those of the other backend, written by another program.
  { name: 'fairlead-iptables-legacy', conformance: 320 },
  {
    name: 'fairlead-socket-ebpf',
    differing: 60,
    onlyKnown: true,
    conformance: 320,
    sabotage: 420,
    faults: 1_500,
    e2e: 900,
  },
  {
    name: 'fairlead-tc-ebpf',
    differing: 45,
    onlyKnown: true,
    conformance: 320,
    sabotage: 420,
    faults: 1_500,
    bounds: 120,
    e2e: 900,
  },
  {
    name: PROXY_WITH_FORWARDER,
    differing: 54,
    onlyKnown: true,
    conformance: 320,
    sabotage: 420,
    faults: 1_500,
    e2e: 900,
  },
  // By night alone: it must do what nftables does, which is run on landing.
  { name: `${PROXY_WITH_FORWARDER}-dead`, conformance: 240 },
  { name: 'fairlead-ipvs', inGuest: true, conformance: 1_200 },
  { name: 'upstream-nftables', conformance: 240, sabotage: 300 },
  { name: 'upstream-iptables', conformance: 240 },
  { name: 'upstream-iptables-legacy', conformance: 240 },
  { name: 'upstream-nftables-1.36', conformance: 240 },
];

/** Those that have a budget for it, with it. */
export function withBudget(
  of: 'differing' | 'sabotage' | 'faults' | 'bounds' | 'e2e',
): readonly { readonly name: string; readonly seconds: number; readonly inGuest?: true }[] {
  return PROXIES.flatMap(({ name, [of]: seconds, inGuest }) =>
    seconds === undefined ? [] : [{ name, seconds, ...(inGuest ? { inGuest } : {}) }],
  );
}
