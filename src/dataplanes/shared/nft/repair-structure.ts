import type { NftBatch } from '../../../linux/nftables/batch.ts';
import type { SetSpec } from '../../../linux/nftables/nft-objects.ts';
import type { Difference } from '../../contract.ts';
import type { Differences } from '../../differences.ts';
import {
  type ChainOf,
  chainTexts,
  compareStructure,
  type StoredStructure,
  type StructureDifference,
  type TableShape,
  writeRules,
} from './structure.ts';

interface Repair {
  readonly stored: StoredStructure;
  readonly wanted: { readonly chains: readonly ChainOf[]; readonly sets: readonly SetSpec[] };
  readonly tableComment: string;
  readonly differences: Differences;
}

/** Adds missing sets and chains, and rewrites chains with other rules. Foreign ones stay. */
export function repairStructure(
  batch: NftBatch,
  shape: TableShape,
  repair: Repair,
): StructureDifference {
  const { stored, wanted, differences } = repair;
  const { table } = shape;
  const structure = compareStructure(shape, stored, wanted);
  const isNew = structure.missingSets.length === wanted.sets.length;
  if (isNew) batch.addTable(table, repair.tableComment);
  const named = (object: string) => `${table.family} ${table.name} ${object}`;
  const differ = (kind: Difference['kind'], object: string) =>
    differences.add(() => ({ kind, object: named(object) }));
  for (const set of structure.missingSets) {
    differ('missing', `set ${set.name}`);
    batch.addSet(table, set);
  }
  for (const chain of structure.missingChains) {
    differ('missing', `chain ${chain.name}`);
    batch.addChain(table, chain);
  }
  const missing = new Set(structure.missingChains);
  for (const chain of structure.wrongChains) {
    if (!missing.has(chain)) {
      const object = named(`chain ${chain.name}`);
      const rules = () => chainTexts(shape, stored, chain);
      differences.add(() => ({ kind: 'different', object, ...rules() }));
    }
    batch.flushChain(table, chain.name);
    writeRules(batch, shape, chain);
  }
  return structure;
}

/** Rules may use sets and lead to chains, and elements of sets may lead to chains: in this order. */
export function removeForeign(
  batch: NftBatch,
  { table }: TableShape,
  found: { readonly structure: StructureDifference; readonly differences: Differences },
): void {
  const { structure, differences } = found;
  const differ = (kind: 'set' | 'chain', name: string) =>
    differences.add(() => ({
      kind: 'foreign',
      object: `${table.family} ${table.name} ${kind} ${name}`,
    }));
  for (const name of structure.foreignChains) {
    differ('chain', name);
    batch.flushChain(table, name);
  }
  for (const name of structure.foreignSets) {
    differ('set', name);
    batch.deleteSet(table, name);
  }
  for (const name of structure.foreignChains) batch.deleteChain(table, name);
}
