import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import type { Forwarding, NodeView } from '../../../src/forwarding/model.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';

/** Objects in the API's own form. */
export interface ClusterObjects {
  readonly services: readonly object[];
  readonly slices: readonly object[];
}

/** What a node should do, by the way that objects of the API take. */
export function rowsOf(
  { services, slices }: ClusterObjects,
  view: NodeView,
): readonly Forwarding[] {
  const table = new ForwardingTable(view);
  const interner = new Interner();
  for (const raw of services) {
    const found = narrow('service', raw, interner);
    if (found) table.putService(found.object);
  }
  for (const raw of slices) {
    const found = narrow('slice', raw, interner);
    if (found) table.putSlice(found.object);
  }
  return table.rows();
}

export function isForwarding({ frontends }: Forwarding): boolean {
  return frontends.some(({ outcomes }) => outcomes.host.action === 'forward');
}
