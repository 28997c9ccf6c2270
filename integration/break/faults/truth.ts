import type { ApiClient } from '../../../lab/api/client.ts';
import { paths } from '../../../lab/api/objects.ts';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import { equalForwarding } from '../../../src/forwarding/equal.ts';
import { type Forwarding, type NodeView, servicePortKey } from '../../../src/forwarding/model.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';

const ALL_SERVICES = '/api/v1/services';

/** Everything as the API server sends it to a new client. */
export async function readTruth(api: ApiClient, view: NodeView): Promise<ForwardingTable> {
  const interner = new Interner();
  const [services, slices, rawNode] = await Promise.all([
    api.list<unknown>(ALL_SERVICES),
    api.list<unknown>(paths.allSlices),
    api.get(paths.node(view.nodeName)),
  ]);
  const node = narrow('node', rawNode, interner)?.object;
  const table = new ForwardingTable({
    ...view,
    zone: node?.zone ?? '',
    nodeIPs: node?.addresses ?? [],
  });
  for (const raw of services.items) {
    const found = narrow('service', raw, interner);
    if (found) table.putService(found.object);
  }
  for (const raw of slices.items) {
    const found = narrow('slice', raw, interner);
    if (found) table.putSlice(found.object);
  }
  return table;
}

/** How a model is wrong: keys of service ports. */
export interface Differences {
  /** True and not in the model. */
  readonly lost: readonly string[];
  /** In the model and not true. */
  readonly phantom: readonly string[];
  /** In both, but not the same. */
  readonly stale: readonly string[];
}

export function differencesOf(model: ForwardingTable, truth: ForwardingTable): Differences {
  const have = rowsOf(model);
  const want = rowsOf(truth);
  return {
    lost: [...want.keys()].filter((key) => !have.has(key)),
    phantom: [...have.keys()].filter((key) => !want.has(key)),
    stale: [...want].flatMap(([key, row]) =>
      have.has(key) && !equalForwarding(row, have.get(key)) ? [key] : [],
    ),
  };
}

export function isRight({ lost, phantom, stale }: Differences): boolean {
  return lost.length + phantom.length + stale.length === 0;
}

export function describeDifferences({ lost, phantom, stale }: Differences): string {
  return `${lost.length} lost, ${phantom.length} phantom, ${stale.length} stale`;
}

function rowsOf(table: ForwardingTable): Map<string, Forwarding> {
  const rows = table.rows();
  return new Map(rows.map((row) => [servicePortKey(row.id), row]));
}
