import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { TableShape } from '../shared/nft/structure.ts';
import { expressionsOf } from './netlink-printer.ts';
import { TABLES } from './sets.ts';
import type { Rule } from './statements.ts';
import { ruleText } from './text-printer.ts';

const LAYOUT_VERSION = 1;

/** The tables, and how their rules are printed. */
export const SHAPES: Readonly<Record<TableFamily, TableShape<Rule>>> = {
  ip: shapeOf('ip'),
  ip6: shapeOf('ip6'),
};

function shapeOf(family: TableFamily): TableShape<Rule> {
  return {
    table: TABLES[family],
    layoutVersion: LAYOUT_VERSION,
    text: (rule) => ruleText(rule, family),
    expressions: (rule) => expressionsOf(rule, family),
  };
}
