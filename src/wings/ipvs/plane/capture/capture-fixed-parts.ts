import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import type { Differences } from '../../../../dataplanes/differences.ts';
import {
  removeForeign,
  repairStructure,
} from '../../../../dataplanes/shared/nft/repair-structure.ts';
import {
  mustBeRebuilt,
  rulesText,
  type StoredStructure,
  writeRules,
} from '../../../../dataplanes/shared/nft/structure.ts';
import type { NftBatch } from '../../../../linux/nftables/batch.ts';
import type { NftConnection } from '../../../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';
import { captureChains, retiredChains, SHAPES } from './capture-chains.ts';
import { setSpecs, TABLE_COMMENT, TABLES } from './capture-sets.ts';

const NOTHING: StoredStructure = { chains: [], rules: [], sets: [] };

export async function readStructure(
  connection: NftConnection,
  family: TableFamily,
): Promise<StoredStructure> {
  const table = TABLES[family];
  return {
    chains: await connection.chains(table),
    rules: await connection.rules(table),
    sets: await connection.sets(table),
  };
}

/** Whether a repair deletes the table with its elements, and the virtual servers in it can be read. */
export function losesServers(
  stored: StoredStructure,
  facts: NodeFacts,
  family: TableFamily,
): boolean {
  const sets = setSpecs(family);
  const servers = sets.filter(({ name }) => name === 'servers');
  const isReadable = !mustBeRebuilt(stored, { chains: [], sets: servers });
  return isReadable && mustBeRebuilt(stored, { chains: captureChains(facts, family), sets });
}

/**
 * Writes what it takes to make sets and chains as they should be. A table of another shape is
 * deleted with its elements.
 */
export function repairTable(
  batch: NftBatch,
  family: TableFamily,
  repaired: {
    readonly stored: StoredStructure;
    readonly facts: NodeFacts;
    readonly differences: Differences;
  },
): void {
  const { facts, differences } = repaired;
  const shape = SHAPES[family];
  const wanted = { chains: captureChains(facts, family), sets: setSpecs(family) };
  const isOther = mustBeRebuilt(repaired.stored, wanted);
  if (isOther) {
    const { name } = shape.table;
    differences.add(() => ({ kind: 'different', object: `table ${family} ${name}` }));
    batch.deleteTable(shape.table);
  }
  const stored = isOther ? NOTHING : repaired.stored;
  const tableComment = TABLE_COMMENT;
  const structure = repairStructure(batch, shape, { stored, wanted, tableComment, differences });
  removeForeign(batch, shape, { structure, differences });
}

/** Rewrites the chains that differ between two configurations, and no other. */
export function reconfigureTable(
  batch: NftBatch,
  family: TableFamily,
  { before, after }: { readonly before: NodeFacts; readonly after: NodeFacts },
): void {
  const old = new Map(captureChains(before, family).map((chain) => [chain.name, rulesText(chain)]));
  for (const chain of captureChains(after, family)) {
    if (old.get(chain.name) === rulesText(chain)) continue;
    batch.flushChain(TABLES[family], chain.name);
    writeRules(batch, SHAPES[family], chain);
  }
}

/** From now on no connection is captured. Elements go too: they mean nothing any more. */
export function retireTable(
  batch: NftBatch,
  family: TableFamily,
  { chains, sets }: StoredStructure,
): void {
  const table = TABLES[family];
  for (const { name } of retiredChains()) {
    if (chains.some((chain) => chain.name === name)) batch.flushChain(table, name);
  }
  if (sets.some(({ name }) => name === 'captured')) batch.flushSet(table, 'captured');
}

/** Whether new connections are captured. */
export function isActive({ rules }: StoredStructure): boolean {
  return retiredChains().every(({ name }) => rules.some(({ chain }) => chain === name));
}

/** Whether every hook of ours is there. */
export function isHooked(stored: StoredStructure, facts: NodeFacts, family: TableFamily): boolean {
  const names = new Set(stored.chains.filter(({ base }) => base).map(({ name }) => name));
  return captureChains(facts, family).every(({ name, base }) => !base || names.has(name));
}
