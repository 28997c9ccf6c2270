import { hash } from 'node:crypto';
import type { NftBatch } from '../../../linux/nftables/batch.ts';
import type {
  StoredChain,
  StoredRule,
  StoredSet,
} from '../../../linux/nftables/decode-nftables.ts';
import { dataTypeOf, keyLength } from '../../../linux/nftables/fields.ts';
import type { BaseHook, SetSpec, TableRef } from '../../../linux/nftables/nft-objects.ts';
import { HOOK_NUMBER, SET_FLAG } from '../../../linux/nftables/nftables-protocol.ts';
import { setFlags, setUserdata } from '../../../linux/nftables/set-definition.ts';
import type { Binary } from '../../../linux/nftables/userdata.ts';
import { joined, type Rule, ruleText } from './nft-rule.ts';

const FINGERPRINT_BYTES = 8;
const VERDICT_DATA_TYPE = 0xffff_ff00;

export interface ChainOf<R extends Rule = Rule> {
  readonly name: string;
  readonly base?: BaseHook;
  readonly rules: readonly R[];
}

export interface TableShape {
  readonly table: TableRef;
  /** Part of the fingerprint of every rule: raise it when the bytes of a rule change and its text does not. */
  readonly layoutVersion: number;
}

export interface StoredStructure {
  readonly chains: readonly StoredChain[];
  readonly rules: readonly StoredRule[];
  readonly sets: readonly StoredSet[];
}

/** The fingerprint of a rule, for comparing it when it is read back. */
export function fingerprint({ layoutVersion }: TableShape, rule: Rule): Binary {
  const text = `${layoutVersion} ${ruleText(rule)}`;
  return hash('sha256', text, 'buffer').toString('latin1', 0, FINGERPRINT_BYTES);
}

export function writeRules(batch: NftBatch, shape: TableShape, chain: ChainOf): void {
  for (const rule of chain.rules) {
    batch.addRule(shape.table, {
      chain: chain.name,
      expressions: joined(...rule.clauses).expressions,
      fingerprint: fingerprint(shape, rule),
      ...(rule.comment === undefined ? {} : { comment: rule.comment }),
    });
  }
}

export function rulesText({ rules }: ChainOf): string {
  return rules.map(ruleText).join('\n');
}

/**
 * A set of another shape, or a base chain at another hook or priority, cannot be changed: the whole
 * table must be recreated. It happens with the table of another version of the program.
 */
export function mustBeRebuilt(
  stored: StoredStructure,
  wanted: { readonly chains: readonly ChainOf[]; readonly sets: readonly SetSpec[] },
): boolean {
  const { chains, sets } = wanted;
  const specs = new Map(sets.map((spec) => [spec.name, spec]));
  const isOtherSet = stored.sets.some((set) => {
    const spec = specs.get(set.name);
    return spec !== undefined && !isSameSet(set, spec);
  });
  const bases = new Map(chains.map((chain) => [chain.name, baseText(chain)]));
  return (
    isOtherSet ||
    stored.chains.some(({ name, base }) => bases.has(name) && bases.get(name) !== base)
  );
}

export interface StructureDifference {
  readonly missingSets: readonly SetSpec[];
  readonly foreignSets: readonly string[];
  readonly missingChains: readonly ChainOf[];
  readonly foreignChains: readonly string[];
  /** There, and not with the rules that they should have; missing ones among them. */
  readonly wrongChains: readonly ChainOf[];
}

export function compareStructure(
  shape: TableShape,
  stored: StoredStructure,
  wanted: { readonly chains: readonly ChainOf[]; readonly sets: readonly SetSpec[] },
): StructureDifference {
  const { chains, sets } = wanted;
  const storedSets = new Set(stored.sets.map((set) => set.name));
  const storedChains = new Set(stored.chains.map((chain) => chain.name));
  const setNames = new Set(sets.map((spec) => spec.name));
  const chainNames = new Set(chains.map((chain) => chain.name));
  const rules = new Map<string, Binary>();
  for (const rule of stored.rules) {
    // A rule of another process has no fingerprint, and must make the sum differ all the same.
    const print = rule.fingerprint === '' ? '?' : rule.fingerprint;
    rules.set(rule.chain, (rules.get(rule.chain) ?? '') + print);
  }
  const rulesOf = (chain: ChainOf) => chain.rules.map((r) => fingerprint(shape, r)).join('');
  const isWrong = (chain: ChainOf): boolean => {
    const found = rules.get(chain.name);
    return found === undefined ? chain.rules.length > 0 : found !== rulesOf(chain);
  };
  return {
    missingSets: sets.filter((spec) => !storedSets.has(spec.name)),
    foreignSets: stored.sets.filter((set) => isForeign(set, setNames)).map(({ name }) => name),
    missingChains: chains.filter((chain) => !storedChains.has(chain.name)),
    foreignChains: [...storedChains].filter((name) => !chainNames.has(name)),
    wrongChains: chains.filter(isWrong),
  };
}

/**
 * The desired and actual rules of a chain that differs. The kernel's rules are known by their
 * fingerprints: for one that matches no desired rule, only its owner can be reported.
 */
export function chainTexts(
  shape: TableShape,
  stored: StoredStructure,
  chain: ChainOf,
): { readonly wanted: readonly string[]; readonly found: readonly string[] } {
  const texts = new Map(chain.rules.map((rule) => [fingerprint(shape, rule), ruleText(rule)]));
  const found = stored.rules
    .filter((rule) => rule.chain === chain.name)
    .map(({ fingerprint: print }) => {
      if (print === '') return '(a rule of another process)';
      return texts.get(print) ?? '(a rule of Fairlead for another configuration or version)';
    });
  return { wanted: chain.rules.map(ruleText), found };
}

/** A set without a name of its own belongs to the rule that uses it, and goes with the rule. */
function isForeign({ name, flags }: StoredSet, ours: ReadonlySet<string>): boolean {
  return (flags & SET_FLAG.anonymous) === 0 && !ours.has(name);
}

function baseText(chain: ChainOf): string | undefined {
  const { base } = chain;
  return base && `${base.type} ${HOOK_NUMBER[base.hook]} ${base.priority}`;
}

function isSameSet(stored: StoredSet, spec: SetSpec): boolean {
  const { value } = spec;
  const dataType = value === 'verdict' ? VERDICT_DATA_TYPE : value ? dataTypeOf(value) : 0;
  return (
    stored.flags === setFlags(spec) &&
    stored.keyType === dataTypeOf(spec.key) &&
    stored.keyLength === keyLength(spec.key) &&
    stored.dataType === dataType &&
    stored.userdata === setUserdata(spec)
  );
}
