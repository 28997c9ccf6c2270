import type { NftBatch } from '../../linux/nftables/batch.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { Difference } from '../contract.ts';
import { Differences } from '../differences.ts';
import { addressBytes, hostNumber } from '../shared/nft/element-keys.ts';
import { hostNumberOf } from '../shared/nft/element-text.ts';
import { removeForeign, repairStructure } from '../shared/nft/repair-structure.ts';
import {
  compareStructure,
  mustBeRebuilt,
  type StoredStructure,
  writeRules,
} from '../shared/nft/structure.ts';
import {
  type Class,
  classChainNames,
  classId,
  classOfId,
  classPlace,
  classSetOf,
} from './classes.ts';
import { elementName } from './element-name.ts';
import {
  type Chain,
  classChains,
  FAMILY_OF_TABLE,
  fixedChains,
  preparedChains,
} from './nftables-chains.ts';
import {
  allSetSpecs,
  CLASS_SETS,
  type ClassSet,
  type SetName,
  setSpecs,
  TABLE_COMMENT,
  TABLES,
} from './nftables-sets.ts';
import { classElement } from './nftables-transaction.ts';
import type { TableFacts } from './table-facts.ts';
import { SHAPES } from './table-shape.ts';

/** The parts of a table besides the elements of rows. */
export interface StoredFixedParts {
  readonly structure: StoredStructure;
  /** Number of a class to where it leads. */
  readonly classes: ReadonlyMap<ClassSet, ReadonlyMap<Binary, string>>;
  readonly nodePortAddresses: ReadonlySet<Binary>;
}

export interface WantedFixedParts {
  readonly facts: TableFacts;
  readonly classes: readonly Class[];
}

export async function readFixedParts(
  connection: NftConnection,
  family: TableFamily,
): Promise<StoredFixedParts> {
  const table = TABLES[family];
  const structure = {
    chains: await connection.chains(table),
    rules: await connection.rules(table),
    sets: await connection.sets(table),
  };
  const classes = new Map<ClassSet, Map<Binary, string>>();
  for (const set of CLASS_SETS) {
    const found = new Map<Binary, string>();
    await connection.elements(table, set, ({ key, value }) => found.set(key, value ?? ''));
    classes.set(set, found);
  }
  const nodePortAddresses = new Set<Binary>();
  await connection.elements(table, 'nodeport-ips', ({ key }) => nodePortAddresses.add(key));
  return { structure, classes, nodePortAddresses };
}

export const NO_FIXED_PARTS: StoredFixedParts = {
  structure: { chains: [], rules: [], sets: [] },
  classes: new Map(),
  nodePortAddresses: new Set(),
};

/** Whether a table is of a shape that cannot be repaired. */
export function isBeyondRepair(
  stored: StoredFixedParts,
  facts: TableFacts,
  family: TableFamily,
): boolean {
  return mustBeRebuilt(stored.structure, {
    chains: fixedChains(facts, family),
    sets: allSetSpecs(family),
  });
}

/** Classes that an earlier process, or an earlier Service, has left. */
export function storedClasses(stored: StoredFixedParts): Class[] {
  return CLASS_SETS.flatMap((set) =>
    [...(stored.classes.get(set) ?? [])].flatMap(([key, verdict]) => {
      const rowClass = classOfId(hostNumberOf(key), set);
      return rowClass && verdict === verdictText(rowClass) ? [rowClass] : [];
    }),
  );
}

function verdictText(rowClass: Class): string {
  const { verdict } = classElement(rowClass);
  return `${verdict?.code} ${verdict?.chain}`;
}

/** Each class once. */
export function uniqueClasses(classes: readonly Class[]): Class[] {
  return [...new Map(classes.map((rowClass) => [classPlace(rowClass), rowClass])).values()];
}

/**
 * Removes classes that no row uses, with their chains. Timeouts come and go with what users
 * configure; classes that differ only in size are few and stay, because creating a chain may cost
 * the kernel milliseconds.
 */
export function collectClasses(
  batch: NftBatch,
  parts: { family: TableFamily; stored: StoredFixedParts; used: WantedFixedParts },
): StoredFixedParts {
  const { family, stored, used } = parts;
  const table = TABLES[family];
  const isUsed = new Set(used.classes.map(classPlace));
  const unused = storedClasses(stored).filter(
    (each) => each.stickySeconds > 0 && !isUsed.has(classPlace(each)),
  );
  if (unused.length === 0) return stored;
  const kept = new Set(wantedChains(used, family).map(({ name }) => name));
  const goingSet = new Set(unused.flatMap(classChainNames).filter((name) => !kept.has(name)));
  const going = stored.structure.chains.filter(({ name }) => goingSet.has(name));
  const classes = new Map([...stored.classes].map(([set, found]) => [set, new Map(found)]));
  for (const each of unused) {
    const { key } = classElement(each);
    batch.deleteElement(table, classSetOf(each), { key });
    classes.get(classSetOf(each))?.delete(key);
  }
  for (const { name } of going) batch.flushChain(table, name);
  for (const { name } of going) batch.deleteChain(table, name);
  const { chains, rules, sets } = stored.structure;
  const structure = {
    chains: chains.filter(({ name }) => !goingSet.has(name)),
    rules: rules.filter(({ chain }) => !goingSet.has(chain)),
    sets,
  };
  return { ...stored, structure, classes };
}

/** Every chain that should be there, each once, those that are led to before those that lead. */
export function wantedChains(wanted: WantedFixedParts, family: TableFamily): readonly Chain[] {
  const { facts, classes } = wanted;
  const fixed = fixedChains(facts, family);
  const chains = [
    ...fixed.filter((chain) => !chain.base),
    ...preparedChains(family),
    ...classes.flatMap((each) => classChains(each, facts, family)),
    ...fixed.filter((chain) => chain.base),
  ];
  return [...new Map(chains.map((chain) => [chain.name, chain])).values()];
}

export function nodePortAddressKeys(facts: TableFacts, family: TableFamily): Binary[] {
  const addresses = facts.nodePortAddresses[FAMILY_OF_TABLE[family]];
  return addresses === 'all' ? [] : addresses.map(addressBytes);
}

/** Whether the table is one of an earlier version: it serves, and not by way of our maps. */
export function isOfEarlierLayout({ structure: { sets } }: StoredFixedParts): boolean {
  return sets.length > 0 && !sets.some(({ name }) => name === ENTRANCE);
}

const ENTRANCE: SetName = 'frontends';

/**
 * Puts the sets and chains of this layout beside those of an earlier one, which goes on serving
 * until every row is in ours and `repairFixedParts` leads packets there.
 */
export function addFixedParts(
  batch: NftBatch,
  parts: { family: TableFamily; stored: StoredFixedParts; wanted: WantedFixedParts },
): void {
  const { family, stored, wanted } = parts;
  const chains = wantedChains(wanted, family).filter((chain) => !chain.base);
  const sets = setSpecs(family, wanted.facts);
  const compared = compareStructure(SHAPES[family], stored.structure, { chains, sets });
  const { missingSets, missingChains } = compared;
  for (const set of missingSets) batch.addSet(TABLES[family], set);
  for (const chain of missingChains) batch.addChain(TABLES[family], chain);
  for (const chain of missingChains) writeRules(batch, SHAPES[family], chain);
  repairClasses(batch, { ...parts, differences: new Differences() });
}

/** Writes what it takes to make the fixed parts as they should be. */
export function repairFixedParts(
  batch: NftBatch,
  repair: {
    readonly family: TableFamily;
    readonly stored: StoredFixedParts;
    readonly wanted: WantedFixedParts;
    readonly differences: Differences;
  },
): void {
  const { family, stored, wanted, differences } = repair;
  const shape = SHAPES[family];
  const parts = { chains: wantedChains(wanted, family), sets: setSpecs(family, wanted.facts) };
  const structure = repairStructure(batch, shape, {
    stored: stored.structure,
    wanted: parts,
    tableComment: TABLE_COMMENT,
    differences,
  });
  repairClasses(batch, repair);
  removeForeign(batch, shape, { structure, differences });
  repairNodePortAddresses(batch, repair);
}

type Repair = Parameters<typeof repairFixedParts>[1];

function repairClasses(batch: NftBatch, { family, stored, wanted, differences }: Repair): void {
  const table = TABLES[family];
  for (const set of CLASS_SETS) {
    const found = new Map(stored.classes.get(set) ?? []);
    const differ = (kind: Difference['kind'], key: Binary, values = {}) =>
      differences.add(() => ({ kind, object: elementName(family, set, key), ...values }));
    for (const each of wanted.classes.filter((one) => classSetOf(one) === set)) {
      const key = hostNumber(classId(each));
      const verdict = found.get(key);
      found.delete(key);
      if (verdict === verdictText(each)) continue;
      if (verdict === undefined) differ('missing', key);
      else differ('different', key, { wanted: [verdictText(each)], found: [verdict] });
      if (verdict !== undefined) batch.deleteElement(table, set, { key });
      batch.addElement(table, set, classElement(each));
    }
    for (const key of found.keys()) {
      differ('foreign', key);
      batch.deleteElement(table, set, { key });
    }
  }
}

function repairNodePortAddresses(batch: NftBatch, repair: Repair): void {
  const { family, stored, wanted, differences } = repair;
  const table = TABLES[family];
  const keys = new Set(nodePortAddressKeys(wanted.facts, family));
  const differ = (kind: Difference['kind'], key: Binary) =>
    differences.add(() => ({ kind, object: elementName(family, 'nodeport-ips', key) }));
  for (const key of stored.nodePortAddresses) {
    if (keys.has(key)) continue;
    differ('foreign', key);
    batch.deleteElement(table, 'nodeport-ips', { key });
  }
  for (const key of keys) {
    if (stored.nodePortAddresses.has(key)) continue;
    differ('missing', key);
    batch.addElement(table, 'nodeport-ips', { key });
  }
}
