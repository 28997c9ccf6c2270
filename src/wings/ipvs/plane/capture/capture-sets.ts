import { frontendFields } from '../../../../dataplanes/shared/nft/element-keys.ts';
import { FAMILIES, type Family } from '../../../../forwarding/model.ts';
import {
  destinationAddress,
  type Field,
  MARK,
  sourceAddress,
} from '../../../../linux/nftables/fields.ts';
import type { SetSpec, TableRef } from '../../../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';

export const TABLE_NAME = 'fairlead-ipvs';
export const TABLE_COMMENT = 'connections for IPVS; written by fairlead, changes are undone';

export const TABLES: Readonly<Record<TableFamily, TableRef>> = {
  ip: { family: 'ip', name: TABLE_NAME },
  ip6: { family: 'ip6', name: TABLE_NAME },
};

export const TABLE_OF_FAMILY: Readonly<Record<Family, TableFamily>> = { IPv4: 'ip', IPv6: 'ip6' };
export const FAMILY_OF_TABLE: Readonly<Record<TableFamily, Family>> = { ip: 'IPv4', ip6: 'IPv6' };
export const TABLE_FAMILIES: readonly TableFamily[] = FAMILIES.map((f) => TABLE_OF_FAMILY[f]);

/** In the order in which they are made. */
const SET_NAMES = ['captured', 'servers', 'refused', 'hairpin'] as const;
export type SetName = (typeof SET_NAMES)[number];

export function hairpinFields(family: TableFamily): readonly Field[] {
  return [sourceAddress(family), destinationAddress(family)];
}

export function setSpecs(family: TableFamily): readonly SetSpec[] {
  return SET_NAMES.map((name) => setSpec(family, name));
}

export function isSetName(name: string): name is SetName {
  return (SET_NAMES as readonly string[]).includes(name);
}

export function setSpec(family: TableFamily, name: SetName): SetSpec {
  switch (name) {
    case 'captured':
      return {
        name,
        comment: 'digits: pods, this node, others; 0 pass, 1 take, 3 take and masquerade',
        key: frontendFields(family),
        value: [MARK],
      };
    case 'servers':
      return { name, comment: 'virtual servers of fairlead', key: frontendFields(family) };
    case 'refused':
      return {
        name,
        comment: 'not by IPVS: refused, or another process has it',
        key: frontendFields(family),
      };
    case 'hairpin':
      return { name, comment: 'endpoints of this node', key: hairpinFields(family) };
  }
}
