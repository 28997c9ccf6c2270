import type { Prediction } from '../../forwarding/answer/prediction.ts';
import type { Forwarding, NodeView } from '../../forwarding/model.ts';
import type { Remark } from '../explanation.ts';
import type { EmptyRow } from './empty-row.ts';
import { ignoredHints } from './ignored-hints.ts';
import { loadBalancerAddress } from './load-balancer-address.ts';
import { whyNoEndpoint } from './no-endpoint.ts';
import { whyNoneHere } from './none-here.ts';
import { emptyTwin, twinRemark } from './other-family.ts';
import type { Surroundings } from './surroundings.ts';
import type { ZeroCause } from './zero-cause.ts';
import { reasonRemarks, type ZeroReason } from './zero-reason.ts';

/** A row of the Service that was asked for, with what is known of its endpoints. */
export type KnownRow = Omit<EmptyRow, 'id'> & { readonly forwarding: Forwarding };

/** What is missing around a connection, and why. */
export interface Zeros {
  /** Why no endpoint gets it; undefined: one does, or that is not the reason. */
  readonly cause?: ZeroCause;
  readonly remarks: readonly Remark[];
  /** Instead of general advice; undefined: that is all there is. */
  readonly next?: readonly string[];
}

interface Asked {
  readonly prediction: Prediction;
  /** All rows of the Service. */
  readonly rows: readonly KnownRow[];
  readonly view: NodeView;
}

/** Whether there is a zero that the objects around the Service explain. */
export function hasZero({ prediction, rows, view }: Asked): boolean {
  if (!('row' in prediction)) return false;
  const { code, row } = prediction;
  return (
    code === 'REFUSED_NO_ENDPOINTS' ||
    code === 'DROPPED_NO_LOCAL_ENDPOINTS' ||
    isWithoutBalancer(row, rows, view) ||
    emptyTwin(row, forwardings(rows)) !== undefined
  );
}

/** `around`: read if `hasZero`, else all of it unknown. */
export function zerosOf(asked: Asked, around: Surroundings): Zeros {
  const { prediction, rows, view } = asked;
  if (!('row' in prediction)) return { remarks: [] };
  const { row } = prediction;
  const reason = reasonOf(asked, around);
  const twin = emptyTwin(row, forwardings(rows));
  const twinReason = twin && whyNoEndpoint(emptyRow(twin, rows), around);
  const balancer = isWithoutBalancer(row, rows, view)
    ? loadBalancerAddress(row.id, around.service)
    : undefined;
  const { candidates } = emptyRow(row, rows);
  const isByHints = prediction.action === 'forward' && prediction.list === 'cluster';
  const remarks = [
    ...(reason === undefined ? [] : reasonRemarks(reason)),
    ...(prediction.action === 'forward' ? lastResort(prediction.row, candidates) : []),
    ...(isByHints ? ignoredHints(candidates, view) : []),
    ...(twin && twinReason && reason === undefined ? [twinRemark(twin, twinReason)] : []),
    ...(balancer ? [balancer.remark] : []),
  ];
  const next = [
    ...(reason?.next ?? []),
    ...(reason === undefined ? (twinReason?.next ?? []) : []),
    ...(balancer?.next ?? []),
  ];
  return {
    ...(reason === undefined ? {} : { cause: reason.cause }),
    remarks,
    ...(next.length === 0 ? {} : { next: [...new Set(next)] }),
  };
}

function reasonOf({ prediction, rows, view }: Asked, around: Surroundings): ZeroReason | undefined {
  if (prediction.code === 'REFUSED_NO_ENDPOINTS') {
    return whyNoEndpoint(emptyRow(prediction.row, rows), around);
  }
  if (prediction.code !== 'DROPPED_NO_LOCAL_ENDPOINTS') return undefined;
  return whyNoneHere(emptyRow(prediction.row, rows), around, view);
}

/** Endpoints that end are used while none is ready. */
function lastResort(row: Forwarding, candidates: EmptyRow['candidates']): readonly Remark[] {
  const isUsed = candidates.some(({ state }) => state === 'terminating');
  if (!isUsed || candidates.some(({ state }) => state === 'ready')) return [];
  const name = `${row.id.namespace}/${row.id.service}`;
  const text = `no endpoint of ${name} is ready: those that are terminating get new connections until they end`;
  return [{ topic: 'last resort', text }];
}

function isWithoutBalancer(
  row: Forwarding,
  rows: readonly KnownRow[],
  { unserved = [] }: NodeView,
): boolean {
  const { backing } = emptyRow(row, rows);
  if (backing?.type !== 'LoadBalancer' || unserved.includes('load-balancer-ip')) return false;
  // A Service of two families may have an address in one of them only.
  return forwardings(rows).every(({ frontends }) =>
    frontends.every(({ kind }) => kind !== 'load-balancer-ip'),
  );
}

function emptyRow(row: Forwarding, rows: readonly KnownRow[]): EmptyRow {
  const { id } = row;
  const known = rows.find(
    ({ forwarding: { id: other } }) =>
      other.port === id.port && other.protocol === id.protocol && other.family === id.family,
  );
  const { candidates = [], backing } = known ?? {};
  return { id, candidates, ...(backing === undefined ? {} : { backing }) };
}

function forwardings(rows: readonly KnownRow[]): readonly Forwarding[] {
  return rows.map(({ forwarding }) => forwarding);
}
