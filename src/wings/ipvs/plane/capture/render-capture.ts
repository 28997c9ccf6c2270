import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import { tableText } from '../../../../dataplanes/shared/nft/table-text.ts';
import type { VirtualServerKey } from '../../../../linux/ipvs/ipvs-model.ts';
import type { SetElement } from '../../../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';
import { captureChains } from './capture-chains.ts';
import { capturedElement, familyOfAddress, hairpinKey, serverKey } from './capture-elements.ts';
import type { CaptureElements } from './capture-model.ts';
import { setSpecs, TABLE_COMMENT, TABLES } from './capture-sets.ts';

/** What a table has, for text. */
export interface CaptureContent {
  readonly facts: NodeFacts;
  readonly elements: CaptureElements;
}

/** The output of `nft list table` for a newly created table (nft 1.0.6). */
export function renderCapture({ facts, elements }: CaptureContent, family: TableFamily): string {
  return tableText({
    table: TABLES[family],
    comment: TABLE_COMMENT,
    sets: setSpecs(family),
    elements: setElements(elements, family),
    chains: captureChains(facts, family),
  });
}

function setElements(
  { captured, servers, rejected, hairpin }: CaptureElements,
  family: TableFamily,
): ReadonlyMap<string, readonly SetElement[]> {
  const isOf = (address: string) => familyOfAddress(address) === family;
  const keysOf = (all: ReadonlyMap<string, VirtualServerKey>) =>
    [...all.values()].filter((s) => isOf(s.address)).map((s) => ({ key: serverKey(s) }));
  return new Map<string, readonly SetElement[]>([
    ['captured', [...captured.values()].filter((f) => isOf(f.address)).map(capturedElement)],
    ['servers', keysOf(servers)],
    ['refused', keysOf(rejected)],
    ['hairpin', [...hairpin].filter(isOf).map((address) => ({ key: hairpinKey(address) }))],
  ]);
}
