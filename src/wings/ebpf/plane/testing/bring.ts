import type {
  DataPlane,
  Inspection,
  InspectionDepth,
  NodeFacts,
} from '../../../../dataplanes/contract.ts';
import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import { type Forwarding, servicePortKey } from '../../../../forwarding/model.ts';
import { NODE_FACTS } from './node-network.ts';

/** From whatever is there to these rows. */
export async function bring(
  plane: DataPlane,
  rows: readonly Forwarding[],
  options: { readonly facts?: NodeFacts; readonly depth?: InspectionDepth } = {},
): Promise<Inspection> {
  const { facts = NODE_FACTS, depth = 'everything' } = options;
  const inspection = await plane.inspect({ facts, rows }, depth);
  const wrong = rows.filter(({ id }) => !inspection.right.has(servicePortKey(id)));
  await plane.apply(wrong.map((row) => change('unknown', row)));
  return inspection;
}

/** How many connections the plane has counted, of all endpoints. */
export async function connectionsOf(plane: DataPlane): Promise<number> {
  const counts = (await plane.read('counters')) ?? [];
  return counts.reduce((sum, { connections }) => sum + connections, 0);
}
