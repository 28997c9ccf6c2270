import { endpointKey } from '../../../forwarding/endpoints.ts';
import {
  type Endpoint,
  type Forwarding,
  type Frontend,
  type Outcome,
  servicePortName,
} from '../../../forwarding/model.ts';
import {
  EXTERNAL_SERVICES,
  endpointChainName,
  MARK_MASQUERADE,
  NODE_PORTS,
  PROXY_FIREWALL,
  type RowChainNames,
  rowChainNames,
  SERVICES,
} from './chain-names.ts';
import {
  comment,
  destinationPort,
  oneOf,
  protocolMatch,
  type RuleText,
  remember,
  ruleText,
  single,
  wasRecently,
} from './rule.ts';
import { LOCALHOST_ACCOUNT, LOOPBACK, podMatch, type Setting } from './setting.ts';

/** A rule of a row in a chain that all rows share. */
export interface Dispatch {
  readonly table: 'nat' | 'filter';
  readonly chain: string;
  readonly rule: RuleText;
}

/** Everything that the kernel must have for a row: chains of its own in nat, and rules that lead there. */
export interface RowRules {
  readonly chains: ReadonlyMap<string, readonly RuleText[]>;
  readonly dispatch: readonly Dispatch[];
}

const NO_RULES: RowRules = { chains: new Map(), dispatch: [] };

export function rulesOf(row: Forwarding | undefined, setting: Setting): RowRules {
  return row ? new Rules(row, setting).all() : NO_RULES;
}

class Rules {
  readonly #row: Forwarding;
  readonly #setting: Setting;
  readonly #name: string;
  readonly #chainNames: RowChainNames;
  readonly #chains = new Map<string, RuleText[]>();
  readonly #dispatch: Dispatch[] = [];
  /** A name is a hash, and is needed for every rule that leads there. */
  readonly #endpointChains = new Map<Endpoint, { readonly text: string; readonly chain: string }>();

  constructor(row: Forwarding, setting: Setting) {
    this.#row = row;
    this.#setting = setting;
    this.#name = servicePortName(row.id);
    this.#chainNames = rowChainNames(row.id);
  }

  all(): RowRules {
    const frontends = this.#row.frontends.filter(({ notServed }) => notServed === undefined);
    const internal = frontends.find(({ kind }) => kind === 'cluster-ip');
    const external = frontends.filter(({ kind }) => kind !== 'cluster-ip');
    if (internal) this.#addInternal(internal);
    const isServed = external.some(isForwarded);
    for (const frontend of external) this.#addExternal(frontend);
    const [first] = external;
    if (first && isServed) this.#addExternalChain(first);
    if (isServed) this.#addFirewallChain(external);
    this.#addHealthCheck();
    this.#addEndpointChains(internal);
    return { chains: this.#chains, dispatch: this.#dispatch };
  }

  #addInternal(frontend: Frontend): void {
    const { outside } = frontend.outcomes;
    if (outside.action === 'forward') {
      this.#lead(frontend, { to: this.#listChain(outside.list), what: 'cluster IP' });
    } else this.#rejectOrDrop(frontend, outside, SERVICES);
  }

  #addExternal(frontend: Frontend): void {
    if (isForwarded(frontend)) {
      if (frontend.kind === 'node-port') this.#leadNodePort(frontend);
      else if (frontend.kind === 'external-ip') {
        this.#lead(frontend, { to: this.#chainNames.external, what: 'external IP' });
      } else this.#leadLoadBalancer(frontend);
    }
    const { outside } = frontend.outcomes;
    if (outside.action !== 'forward') this.#rejectOrDrop(frontend, outside, EXTERNAL_SERVICES);
  }

  #leadLoadBalancer(frontend: Frontend): void {
    const { firewall, external } = this.#chainNames;
    const isLimited = frontend.allowedSources !== undefined;
    this.#lead(frontend, { to: isLimited ? firewall : external, what: 'loadbalancer IP' });
    if (!isLimited) return;
    const what = `traffic not accepted by ${firewall}`;
    const rule = ruleText({ ...this.#reached(frontend, what), jump: 'DROP' });
    this.#dispatch.push({ table: 'filter', chain: PROXY_FIREWALL, rule });
  }

  #leadNodePort({ port }: Frontend): void {
    const { protocol, family } = this.#row.id;
    const { facts, abilities } = this.#setting;
    const matches = [comment(this.#name), destinationPort(protocol, port)];
    const jump = this.#chainNames.external;
    const put = (rule: RuleText) => this.#dispatch.push({ table: 'nat', chain: NODE_PORTS, rule });
    if (family === 'IPv4' && facts.nodePortsOnLocalhost && abilities.hasAccounts) {
      const counted = [...matches, `-m nfacct --nfacct-name ${LOCALHOST_ACCOUNT}`];
      put(ruleText({ destination: LOOPBACK, protocol, matches: counted, jump }));
    }
    put(ruleText({ protocol, matches, jump }));
  }

  #lead(frontend: Frontend, jump: { to: string; what: string }): void {
    const rule = ruleText({ ...this.#reached(frontend, jump.what), jump: jump.to });
    this.#dispatch.push({ table: 'nat', chain: SERVICES, rule });
  }

  #rejectOrDrop(frontend: Frontend, outcome: Outcome, chain: string): void {
    const isRejected = outcome.action === 'reject';
    const isNobody = isRejected && outcome.reason === undefined;
    const what = isNobody ? 'has no endpoints' : 'has no local endpoints';
    const jump = isRejected ? `REJECT --reject-with ${this.#unreachable()}` : 'DROP';
    const rule = ruleText({ ...this.#reached(frontend, what), jump });
    this.#dispatch.push({ table: 'filter', chain, rule });
  }

  #unreachable(): string {
    return this.#row.id.family === 'IPv4' ? 'icmp-port-unreachable' : 'icmp6-port-unreachable';
  }

  /** The packets that a frontend is reached by. */
  #reached(frontend: Frontend, what: string) {
    const { protocol, family } = this.#row.id;
    const isNodePort = frontend.kind === 'node-port';
    return {
      ...(isNodePort ? {} : { destination: single(frontend.address, family) }),
      protocol,
      matches: [
        comment(`${this.#name} ${what}`),
        ...(isNodePort ? ['-m addrtype --dst-type LOCAL'] : []),
        destinationPort(protocol, frontend.port),
      ],
    };
  }

  /** Where connections from outside go on, whichever address they came to. */
  #addExternalChain({ outcomes: { pod, host, outside } }: Frontend): void {
    const rules: RuleText[] = [];
    const about = (what: string) => comment(`${what} ${this.#name} external destinations`);
    const isMasqueraded = outside.action === 'forward' && outside.masquerade;
    if (isMasqueraded) {
      const matches = [about('masquerade traffic for')];
      rules.push(ruleText({ matches, jump: MARK_MASQUERADE }));
    } else {
      const { family } = this.#row.id;
      const by = this.#setting.facts.podDetection[family];
      const everywhere = this.#chainNames.cluster;
      if (by && pod.action === 'forward' && pod.list === 'cluster') {
        const matches = [about('pod traffic for')];
        rules.push(ruleText({ ...podMatch(by, true), matches, jump: everywhere }));
      }
      if (host.action === 'forward') {
        const isLocal = '-m addrtype --src-type LOCAL';
        const marked = [about('masquerade LOCAL traffic for'), isLocal];
        rules.push(ruleText({ matches: marked, jump: MARK_MASQUERADE }));
        const routed = [about('route LOCAL traffic for'), isLocal];
        rules.push(ruleText({ matches: routed, jump: everywhere }));
      }
    }
    if (outside.action === 'forward') {
      rules.push(ruleText({ jump: this.#listChain(outside.list) }));
    }
    this.#chains.set(this.#chainNames.external, rules);
  }

  #addFirewallChain(external: readonly Frontend[]): void {
    const limited = external.find(({ allowedSources }) => allowedSources !== undefined);
    if (!limited) return;
    const rules = (limited.allowedSources ?? []).map((source) =>
      ruleText({
        source,
        matches: [comment(`${this.#name} loadbalancer IP`)],
        jump: this.#chainNames.external,
      }),
    );
    const rest = `other traffic to ${this.#name} will be dropped by ${PROXY_FIREWALL}`;
    rules.push(ruleText({ matches: [comment(rest)] }));
    this.#chains.set(this.#chainNames.firewall, rules);
  }

  #addHealthCheck(): void {
    const port = this.#row.healthCheckPort;
    if (port === undefined) return;
    const what = comment(`${this.#name} health check node port`);
    const matches = [what, destinationPort('TCP', port)];
    const rule = ruleText({ protocol: 'TCP', matches, jump: 'ACCEPT' });
    this.#dispatch.push({ table: 'filter', chain: NODE_PORTS, rule });
  }

  #addEndpointChains(internal: Frontend | undefined): void {
    const { clusterEndpoints, localEndpoints } = this.#row;
    const lists = { cluster: clusterEndpoints, local: localEndpoints } as const;
    for (const list of ['cluster', 'local'] as const) {
      const endpoints = lists[list];
      if (endpoints.length === 0) continue;
      const rules = [...this.#masqueraded(internal, list), ...this.#choice(endpoints)];
      this.#chains.set(this.#listChain(list), rules);
      for (const endpoint of endpoints) this.#addEndpointChain(endpoint);
    }
  }

  /** The connections to the cluster IP in this chain that must be masqueraded. */
  #masqueraded(internal: Frontend | undefined, list: 'cluster' | 'local'): RuleText[] {
    if (!internal) return [];
    const { pod, outside } = internal.outcomes;
    if (outside.action !== 'forward' || outside.list !== list || !outside.masquerade) return [];
    const isForAll = pod.action === 'forward' && pod.masquerade;
    const by = this.#setting.facts.podDetection[this.#row.id.family];
    if (!isForAll && !by) return [];
    const from = isForAll || !by ? {} : podMatch(by, false);
    const reached = this.#reached(internal, 'cluster IP');
    return [ruleText({ ...from, ...reached, jump: MARK_MASQUERADE })];
  }

  #choice(endpoints: readonly Endpoint[]): RuleText[] {
    const { id, affinitySeconds } = this.#row;
    const rules: RuleText[] = [];
    const each = endpoints.map((endpoint) => {
      const { text, chain } = this.#endpointChain(endpoint);
      return { chain, about: comment(`${this.#name} -> ${text}`) };
    });
    for (const { chain, about } of affinitySeconds > 0 ? each : []) {
      const matches = [about, wasRecently(chain, affinitySeconds, id.family)];
      rules.push(ruleText({ matches, jump: chain }));
    }
    for (const [index, { chain, about }] of each.entries()) {
      const left = each.length - index;
      const matches = left === 1 ? [about] : [about, oneOf(left)];
      rules.push(ruleText({ matches, jump: chain }));
    }
    return rules;
  }

  #addEndpointChain(endpoint: Endpoint): void {
    const { id, affinitySeconds } = this.#row;
    const { family, protocol } = id;
    const { text, chain } = this.#endpointChain(endpoint);
    const about = comment(this.#name);
    const source = single(endpoint.address, family);
    const sticky = affinitySeconds > 0 ? [remember(chain, family)] : [];
    this.#chains.set(chain, [
      ruleText({ source, matches: [about], jump: MARK_MASQUERADE }),
      ruleText({
        protocol,
        matches: [about, ...sticky, protocolMatch(protocol)],
        jump: `DNAT --to-destination ${text}`,
      }),
    ]);
  }

  #endpointChain(endpoint: Endpoint): { readonly text: string; readonly chain: string } {
    const known = this.#endpointChains.get(endpoint);
    if (known) return known;
    const text = endpointKey(endpoint);
    const made = { text, chain: endpointChainName(this.#row.id, text) };
    this.#endpointChains.set(endpoint, made);
    return made;
  }

  #listChain(list: 'cluster' | 'local'): string {
    return this.#chainNames[list];
  }
}

function isForwarded({ outcomes: { pod, host, outside } }: Frontend): boolean {
  return [pod, host, outside].some(({ action }) => action === 'forward');
}
