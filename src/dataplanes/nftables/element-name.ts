import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { elementName as nameIn } from '../shared/nft/element-text.ts';
import { type SetName, setSpec, TABLES } from './nftables-sets.ts';

/** `ip fairlead map services { 10.96.0.10 . tcp . 80 }`. */
export function elementName(family: TableFamily, set: SetName, key: Binary): string {
  return nameIn(TABLES[family], setSpec(family, set), key);
}
