import type { SourceClass } from '../../../src/forwarding/model.ts';
import { type FrontendData, NOTHING, type RowData, type Told } from './told.ts';

/** Follows a packet of an allowed source through the rules that `render` prints. */
export function toldByIptables(row: RowData, frontend: FrontendData, source: SourceClass): Told {
  const reader = new Reader(row, frontend, source);
  reader.enter('nat KUBE-SERVICES');
  reader.enter('nat KUBE-NODEPORTS');
  if (reader.endpoints.size > 0) {
    const endpoints = [...reader.endpoints].sort();
    return { action: 'forward', endpoints, masquerade: reader.masquerade };
  }
  for (const [target, action] of [
    ['REJECT', 'reject'],
    ['DROP', 'drop'],
  ] as const) {
    const isMet = ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS'].some((name) =>
      reader.rulesOf(`filter ${name}`).some((rule) => targetOf(rule) === target),
    );
    if (isMet) return { ...NOTHING, action };
  }
  return NOTHING;
}

class Reader {
  readonly endpoints = new Set<string>();
  masquerade = false;
  readonly #row: RowData;
  readonly #frontend: FrontendData;
  readonly #source: SourceClass;

  constructor(row: RowData, frontend: FrontendData, source: SourceClass) {
    this.#row = row;
    this.#frontend = frontend;
    this.#source = source;
  }

  /** Those of a chain that are about this frontend and this client. */
  rulesOf(name: string): readonly string[] {
    const chain = this.#row.chains.find((each) => each.name === name);
    return (chain?.rules ?? []).map(({ text }) => text).filter((rule) => this.#matches(rule));
  }

  /** Every endpoint that chance may choose; gives whether the packet comes back. */
  enter(name: string): boolean {
    for (const rule of this.rulesOf(name)) {
      const target = targetOf(rule);
      if (target === 'KUBE-MARK-MASQ') this.masquerade = true;
      else if (target === 'DNAT') {
        this.endpoints.add(/--to-destination (\S+)/.exec(rule)?.[1] ?? '');
        return false;
      } else if (target?.startsWith('KUBE-') && target !== 'KUBE-NODEPORTS') {
        if (!this.enter(`nat ${target}`) && !rule.includes('--mode random')) return false;
      }
    }
    return true;
  }

  #matches(rule: string): boolean {
    return this.#isForFrontend(rule) && this.#isFromSource(rule);
  }

  #isForFrontend(rule: string): boolean {
    if (/-A KUBE-(SEP|MARK)/.test(rule)) return true;
    const isNodePort = this.#frontend.kind === 'node-port';
    const [, address, port] =
      /^(?:node port |\[?([^\]]+?)\]?:)(\d+)$/.exec(this.#frontend.at) ?? [];
    const daddr = / -d (\S+)\/\d+ /.exec(rule)?.[1];
    const dport = / --dport (\d+)/.exec(rule)?.[1];
    const protocol = / -p (\w+)/.exec(rule)?.[1];
    if (daddr !== undefined && (isNodePort || daddr !== address)) return false;
    if (dport !== undefined && dport !== port) return false;
    if (protocol !== undefined && protocol !== this.#row.protocol.toLowerCase()) return false;
    // A node port is met in its own chains only, and other addresses are not met there.
    const isOfNodePorts = rule.includes('-A KUBE-NODEPORTS') || rule.includes('--dst-type LOCAL');
    if (/-A KUBE-(SERVICES|EXTERNAL-SERVICES|NODEPORTS)/.test(rule))
      return isOfNodePorts === isNodePort;
    return true;
  }

  #isFromSource(rule: string): boolean {
    // A new client has no affinity, and is not an endpoint of the Service.
    if (rule.includes('--rcheck') || /-A KUBE-SEP\S+ -s /.test(rule)) return false;
    if (rule.includes('--src-type LOCAL')) return this.#source === 'host';
    if (rule.includes('-A KUBE-FW-')) return true;
    const pod = /(! )?-(?:s|i) \S+ /.exec(rule);
    return pod === null || (this.#source === 'pod') !== (pod[1] !== undefined);
  }
}

function targetOf(rule: string): string | undefined {
  return / -j (\S+)/.exec(rule)?.[1];
}
