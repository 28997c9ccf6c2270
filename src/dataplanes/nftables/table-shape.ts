import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { TableShape } from '../shared/nft/structure.ts';
import { TABLES } from './nftables-sets.ts';

const LAYOUT_VERSION = 1;

export const SHAPES: Readonly<Record<TableFamily, TableShape>> = {
  ip: { table: TABLES.ip, layoutVersion: LAYOUT_VERSION },
  ip6: { table: TABLES.ip6, layoutVersion: LAYOUT_VERSION },
};
