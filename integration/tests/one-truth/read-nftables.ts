import type { SourceClass } from '../../../src/forwarding/model.ts';
import { type FrontendData, NOTHING, type RowData, type Told } from './told.ts';

/**
 * Follows a packet through the rules and elements that `render` prints, as the kernel would: it
 * knows nothing of outcomes, and so cannot repeat what `services` says.
 */
export function toldByNftables(row: RowData, frontend: FrontendData, source: SourceClass): Told {
  const reader = new Reader(row, frontend, source);
  const found = reader.follow();
  if (found) return found;
  const sets = new Set(frontend.elements?.map(({ set }) => set));
  if (sets.has('reject-services') || sets.has('reject-nodeports')) {
    return { ...NOTHING, action: 'reject' };
  }
  if (sets.has('drop-services') || sets.has('drop-nodeports'))
    return { ...NOTHING, action: 'drop' };
  return NOTHING;
}

class Reader {
  readonly #row: RowData;
  readonly #frontend: FrontendData;
  readonly #source: SourceClass;
  #masquerade = false;

  constructor(row: RowData, frontend: FrontendData, source: SourceClass) {
    this.#row = row;
    this.#frontend = frontend;
    this.#source = source;
  }

  follow(): Told | undefined {
    const group = this.#group();
    const chain = group === undefined ? undefined : this.#chainOf(group);
    return chain === undefined ? undefined : this.#enter(chain);
  }

  /** What the address and port, or the node port, leads to. */
  #group(): number | undefined {
    const found = this.#elements('frontends', 'node-ports').find(({ text }) =>
      text.includes(' : '),
    );
    return found && Number(found.text.split(' : ')[1]);
  }

  #chainOf(group: number): string | undefined {
    const found = this.#elements('groups').find(
      ({ text }) => Number(text.split(' : ')[0]) === group,
    );
    return found?.leadsTo;
  }

  #elements(...sets: readonly string[]) {
    return (this.#frontend.elements ?? []).filter(
      ({ set, text }) => sets.includes(set) && !text.includes(' from '),
    );
  }

  #enter(name: string): Told | undefined {
    const chain = this.#row.chains.find((each) => each.name === name);
    if (chain === undefined) throw new Error(`render does not print chain ${name}`);
    for (const { text } of chain.rules) {
      if (!this.#matches(text)) continue;
      const found = this.#obey(text);
      if (found) return found;
    }
    return undefined;
  }

  /** Conditions on the source; those on affinity never match a new client. */
  #matches(rule: string): boolean {
    if (rule.includes('map @clients')) return false;
    const saddr = /^ip6? saddr (!= )?[0-9a-f.:]+\/\d+ /.exec(rule);
    const iif = /^iifname (!= )?"[^"]+" /.exec(rule);
    const pod = saddr ?? iif;
    if (pod) return (this.#source === 'pod') !== (pod[1] !== undefined);
    if (rule.startsWith('fib saddr type local ')) return this.#source === 'host';
    return true;
  }

  #obey(rule: string): Told | undefined {
    if (/meta mark set meta mark \| 0x[0-9a-f]+$/.test(rule)) this.#masquerade = true;
    const target = /(?:goto|jump) (\S+)$/.exec(rule)?.[1];
    if (target !== undefined) return this.#enter(target);
    if (rule.includes(' map @groups ')) return this.#enterClass(rule);
    if (rule.includes('numgen')) return this.#choose(rule);
    return undefined;
  }

  /** The rule changes bits of the group, and looks up the class of what comes out. */
  #enterClass(rule: string): Told | undefined {
    const bits = LOOKUP.exec(rule);
    if (bits === null) throw new Error(`this test cannot parse the rule: ${rule}`);
    const kept = bits[1] === undefined ? this.#entrance : this.#entrance & Number(bits[1]);
    const chain = this.#chainOf((kept | Number(bits[2] ?? 0)) >>> 0);
    if (chain === undefined) return undefined;
    // The same class leads elsewhere by this map; `render` names the chain of the other one.
    const isShortDraw = rule.includes('short-draw-chains');
    return this.#enter(isShortDraw ? shortOf(chain) : chain);
  }

  get #entrance(): number {
    return this.#group() ?? 0;
  }

  #choose(rule: string): Told {
    const mask = Number(/meta mark & (0x[01]fffffff)/.exec(rule)?.[1]);
    const list = (this.#entrance & mask) >>> 0;
    const count = Number(/numgen random mod (\d+)/.exec(rule)?.[1]);
    const set = rule.includes('@sticky-slots') ? 'sticky-slots' : 'slots';
    const values = this.#elements(set).flatMap(({ text }) => {
      const [key = '', value = ''] = text.split(' : ');
      const [of, slot] = key.split(' . ');
      return Number(of) === list && Number(slot) < count ? [value] : [];
    });
    const endpoints = set === 'slots' ? values : values.map((name) => this.#sticky(list, name));
    return {
      action: 'forward',
      endpoints: endpoints.map(endpointOf).sort(),
      masquerade: this.#masquerade,
    };
  }

  /** Affinity stores the number of an endpoint, which maps to its address. */
  #sticky(list: number, name: string): string {
    const found = this.#elements('sticky-endpoints').find(({ text }) => {
      const [of, number] = (text.split(' : ')[0] ?? '').split(' . ');
      return Number(of) === list && Number(number) === Number(name);
    });
    return found?.text.split(' : ')[1] ?? `endpoint ${name} of list ${list} is missing`;
  }
}

const LOOKUP =
  /meta mark set meta mark(?: & (0x[0-9a-f]+))?(?: \| (0x[0-9a-f]+))? meta mark set meta mark meta mark set meta mark map @groups/;

/** `choose/2` is `short/choose/2`, `pick/2` is `short/2`. */
function shortOf(chain: string): string {
  return chain.replace(/(choose|pick)\//, (found) =>
    found === 'pick/' ? 'short/' : `short/${found}`,
  );
}

function endpointOf(value: string): string {
  const [address = '', port] = value.split(' . ');
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
