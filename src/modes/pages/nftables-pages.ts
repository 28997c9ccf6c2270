import { classChain, classOfId, wayOfClassSet } from '../../dataplanes/nftables/classes.ts';
import { TABLE_OF_FAMILY } from '../../dataplanes/nftables/nftables-chains.ts';
import { partsOf } from '../../dataplanes/nftables/nftables-row.ts';
import {
  allSetSpecs,
  CLASS_SETS,
  TABLE_NAME,
  type Where,
} from '../../dataplanes/nftables/nftables-sets.ts';
import {
  type ChainVisit,
  type FrontendWalk,
  walkRow,
} from '../../dataplanes/nftables/nftables-walk.ts';
import type { RowElement, SharedElement } from '../../dataplanes/nftables/row-elements.ts';
import { newRowNumbers } from '../../dataplanes/nftables/row-numbers.ts';
import { allElements } from '../../dataplanes/nftables/row-plan.ts';
import { rangeElements } from '../../dataplanes/nftables/source-ranges.ts';
import { tableContent } from '../../dataplanes/nftables/table-content.ts';
import type { DesiredTables } from '../../dataplanes/nftables/table-facts.ts';
import { hostNumberOf } from '../../dataplanes/shared/nft/element-text.ts';
import { ruleSentence, ruleText } from '../../dataplanes/shared/nft/nft-rule.ts';
import { elementText, hookText } from '../../dataplanes/shared/nft/table-text.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import type { SetSpec } from '../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Page, PageChain, PageElement, PageFrontend } from './rendered-page.ts';

/** A page for each wanted row; `desired` must have all rows, or row numbers would differ. */
export function nftablesPages(
  desired: DesiredTables,
  isWanted: (row: Forwarding) => boolean,
): Page[] {
  const numbers = newRowNumbers();
  for (const row of desired.rows) partsOf(row, numbers);
  const contents = { ip: tableContent(desired, 'ip'), ip6: tableContent(desired, 'ip6') };
  return desired.rows.filter(isWanted).map((row) => {
    const family = TABLE_OF_FAMILY[row.id.family];
    const walks = walkRow(row, contents[family], numbers);
    return {
      key: servicePortKey(row.id),
      table: `${family} ${TABLE_NAME}`,
      forwarding: row,
      frontends: walks.map((walk) => pageFrontend(walk, family)),
      chains: chainsOf(walks),
    };
  });
}

function pageFrontend(
  { frontend, parts, visits }: FrontendWalk,
  family: TableFamily,
): PageFrontend {
  const { sources } = parts;
  const where: Where = frontend.kind === 'node-port' ? 'nodeport' : 'service';
  const ranges = sources ? rangeElements(sources) : [];
  const all: readonly (RowElement | SharedElement)[] = [
    ...allElements(parts, new Map()),
    ...parts.shared,
    ...ranges,
  ];
  const elements = allSetSpecs(family).flatMap((spec) =>
    all.filter(({ set }) => set === spec.name).map((element) => pageElement(spec, element, where)),
  );
  return { frontend, elements, path: visits.map(({ chain }) => chain.name) };
}

function pageElement(
  spec: SetSpec,
  element: RowElement | SharedElement,
  where: Where,
): PageElement {
  const { comment: _, ...rest } = { comment: undefined, ...element };
  const leadsTo = classChainOf(element, where);
  return {
    kind: spec.value ? 'map' : 'set',
    set: spec.name,
    // Without counters, which only the kernel has, and the comment, which is in the heading.
    text: elementText({ ...spec, hasCounters: false }, rest),
    ...(leadsTo === undefined ? {} : { leadsTo }),
  };
}

/** For an element of `groups`, the chain that its class leads to. */
function classChainOf(element: RowElement | SharedElement, where: Where): string | undefined {
  if (element.set !== 'groups' || element.value === undefined) return undefined;
  const id = hostNumberOf(element.value);
  const sets = CLASS_SETS.filter((set) => wayOfClassSet(set).where === where);
  const of = sets.map((set) => classOfId(id, set)).find((each) => each !== undefined);
  return of && classChain(of);
}

/** Each chain once, with the rules that concern any of the frontends. */
function chainsOf(walks: readonly FrontendWalk[]): PageChain[] {
  const visits = new Map<string, ChainVisit>();
  for (const visit of walks.flatMap((walk) => walk.visits)) {
    const { chain } = visit;
    const rules = new Set([...(visits.get(chain.name)?.rules ?? []), ...visit.rules]);
    visits.set(chain.name, { ...visit, rules: chain.rules.filter((rule) => rules.has(rule)) });
  }
  const inOrder = [...visits.values()].sort((a, b) => a.stage - b.stage);
  return inOrder.map(({ chain, rules }) => {
    return {
      name: chain.name,
      ...(chain.base ? { hook: hookText(chain.base) } : {}),
      rules: rules.map((rule) => ({ text: ruleText(rule), does: ruleSentence(rule) })),
    };
  });
}
