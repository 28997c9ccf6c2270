import type { Forwarding, Frontend } from '../../forwarding/model.ts';
import { type ChainVisit as ChainWalkVisit, walkChains } from '../shared/chain-walk.ts';
import { hostNumber } from '../shared/nft/element-keys.ts';
import { hostNumberOf } from '../shared/nft/element-text.ts';
import { classChain, classOfId, groupChange } from './classes.ts';
import { type Chain, TABLE_OF_FAMILY } from './nftables-chains.ts';
import { partsOf, type RowParts } from './nftables-row.ts';
import { frontendMap, type SetName } from './nftables-sets.ts';
import type { RowElement } from './row-elements.ts';
import type { RowNumbers } from './row-numbers.ts';
import type { ClassLookup, FrontendPacket, Rule } from './service-clauses.ts';
import { levelOf } from './source-ranges.ts';
import type { TableContent } from './table-content.ts';

/** A chain that a packet traverses, with those of its rules that may match it. */
export interface ChainVisit extends Omit<ChainWalkVisit<Rule>, 'chain' | 'depth'> {
  readonly chain: Chain;
}

/** A frontend and what the kernel holds for it. */
export interface FrontendWalk {
  readonly frontend: Frontend;
  readonly parts: RowParts;
  readonly visits: readonly ChainVisit[];
}

/** The hooks of a packet from outside, in order. The node's own packets meet the same in `output`. */
const FROM_OUTSIDE = [
  'filter-prerouting',
  'nat-prerouting',
  'filter-input',
  'filter-forward',
  'nat-postrouting',
] as const;

/** The hooks where only the node's own sockets are served. */
const FROM_OWN_SOCKETS = [
  'filter-output-early',
  'nat-output',
  'filter-output',
  'filter-input',
  'nat-postrouting',
] as const;

/** `numbers` must have seen all rows before, in order. */
export function walkRow(
  row: Forwarding,
  content: TableContent,
  numbers: RowNumbers,
): readonly FrontendWalk[] {
  return row.frontends.map((frontend) => {
    const parts = partsOf({ ...row, frontends: [frontend] }, numbers);
    return { frontend, parts, visits: new Walk(row, frontend, { content, parts }).visits() };
  });
}

class Walk {
  readonly #frontend: Frontend;
  readonly #elements: ReadonlyMap<SetName, readonly RowElement[]>;
  readonly #chains: ReadonlyMap<string, Chain>;
  readonly #isForwarding: boolean;
  readonly #isTcp: boolean;
  readonly #sourceLevels: ReadonlySet<number>;

  constructor(
    row: Forwarding,
    frontend: Frontend,
    parts: { content: TableContent; parts: RowParts },
  ) {
    if (TABLE_OF_FAMILY[row.id.family] !== parts.content.family) {
      throw new RangeError('the table is of another family than the row');
    }
    this.#frontend = frontend;
    this.#elements = Map.groupBy(parts.parts.elements, ({ set }) => set);
    this.#chains = new Map(parts.content.chains.map((chain) => [chain.name, chain]));
    this.#isTcp = row.id.protocol === 'TCP';
    this.#isForwarding = parts.parts.classes.length > 0;
    const ranges = parts.parts.sources?.ranges ?? [];
    this.#sourceLevels = new Set(
      ranges.map(({ prefixLength }) => levelOf(prefixLength, parts.content.family)),
    );
  }

  visits(): ChainVisit[] {
    const servesOthers = (this.#chains.get('nat-prerouting')?.rules.length ?? 0) > 0;
    const visits = walkChains<Rule>(servesOthers ? FROM_OUTSIDE : FROM_OWN_SOCKETS, {
      rulesOf: (name) => this.#chains.get(name)?.rules,
      concerns: ({ clauses }, visit) => {
        const packet = this.#packet(visit);
        return clauses.every(({ concerns }) => concerns === undefined || concerns(packet));
      },
    });
    return visits.flatMap(({ chain: name, rules, stage }) => {
      const chain = this.#chains.get(name);
      return chain === undefined ? [] : [{ chain, rules, stage }];
    });
  }

  #packet(visits: (chain: string) => boolean): FrontendPacket {
    return {
      isTcp: this.#isTcp,
      isForNodePort: this.#frontend.kind === 'node-port',
      isForwarded: this.#isForwarding,
      hasElementIn: (set) => this.#elements.has(set),
      hasRange: (prefixLength) => this.#sourceLevels.has(prefixLength),
      visits,
      visitsClass: (lookup) => this.#visitClass(lookup, visits),
    };
  }

  #visitClass({ where, as, classes }: ClassLookup, visit: (chain: string) => boolean): boolean {
    const [frontend] = this.#elements.get(frontendMap(where)) ?? [];
    if (frontend?.value === undefined) return false;
    const own = hostNumberOf(frontend.value);
    const change = as && groupChange(as.treatment, as.listOf);
    const group = change ? ((own & change.mask) ^ change.xor) >>> 0 : own;
    const key = hostNumber(group);
    const entry = this.#elements.get('groups')?.find((element) => element.key === key);
    const rowClass = entry?.value && classOfId(hostNumberOf(entry.value), classes);
    return rowClass ? visit(classChain(rowClass)) : false;
  }
}
