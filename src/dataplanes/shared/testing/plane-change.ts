import assert from 'node:assert/strict';
import { type Forwarding, servicePortKey } from '../../../forwarding/model.ts';
import type { Applied, RowChange } from '../../contract.ts';
import { knownRow } from '../../row-change.ts';

/** The change of one row. At least one of the two must be a row. */
export function change(before: Applied, after: Forwarding | undefined): RowChange {
  const id = (after ?? knownRow(before))?.id;
  assert.ok(id);
  return { key: servicePortKey(id), id, before, after };
}
