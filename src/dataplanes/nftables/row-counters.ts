import { constants } from 'node:os';
import { type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import type { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { EndpointCount } from '../contract.ts';
import { TABLE_OF_FAMILY } from './nftables-chains.ts';
import { endpointText } from './nftables-counters.ts';
import type { Knowledge } from './nftables-knowledge.ts';
import { endpointPartsOf } from './nftables-row.ts';
import { TABLES } from './nftables-sets.ts';
import { allElements } from './row-plan.ts';

const COUNTED_SETS = ['slots', 'sticky-endpoints'] as const;
const { ENOENT } = constants.errno;

/**
 * Counters of some rows, by the keys that their elements have: the cost is that of their endpoints. A
 * row that is not written yet, or is being written now, is left out.
 */
export async function readRowCounters(
  connection: NftConnection,
  { numbers, orders }: Knowledge,
  rows: readonly Forwarding[],
): Promise<readonly EndpointCount[]> {
  const counts: EndpointCount[] = [];
  for (const row of rows) {
    // To ask for a number would give one to a row that is none of the kernel's.
    if (!numbers.rows.has(servicePortKey(row.id))) continue;
    const elements = allElements(endpointPartsOf(row, numbers), orders);
    const keys = COUNTED_SETS.map((set) => ({
      set,
      keys: elements.filter((element) => element.set === set).map(({ key }) => key),
    }));
    counts.push(...((await countsOf(connection, row, keys)) ?? []));
  }
  return counts;
}

/** Undefined: the kernel has another list of endpoints. */
async function countsOf(
  connection: NftConnection,
  row: Forwarding,
  keys: readonly { readonly set: string; readonly keys: readonly Binary[] }[],
): Promise<Iterable<EndpointCount> | undefined> {
  const family = TABLE_OF_FAMILY[row.id.family];
  const service = servicePortKey(row.id);
  const counts = new Map<string, EndpointCount>();
  try {
    for (const of of keys) {
      await connection.elementsWithKeys(TABLES[family], of, ({ value = '', packets, bytes }) => {
        const endpoint = endpointText(family, value);
        const known = counts.get(endpoint);
        counts.set(endpoint, {
          service,
          endpoint,
          connections: packets + (known?.connections ?? 0),
          bytes: bytes + (known?.bytes ?? 0),
        });
      });
    }
  } catch (error) {
    if (error instanceof NetlinkError && error.errno === ENOENT) return undefined;
    throw error;
  }
  return counts.values();
}
