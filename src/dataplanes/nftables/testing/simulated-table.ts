import assert from 'node:assert/strict';
import { readAttributes, readMessages, textOf } from '../../../linux/netlink/reader.ts';
import { NftBatch } from '../../../linux/nftables/batch.ts';
import { decodeElements } from '../../../linux/nftables/decode-elements.ts';
import { ELEMENTS, MESSAGE } from '../../../linux/nftables/nftables-protocol.ts';

const HEADER_BYTES = 4;

/**
 * Elements of one table as in a strict kernel: adding one twice or deleting a missing one fails.
 */
export class SimulatedTable {
  /** Set and key, in hexadecimal, to the value. */
  readonly elements = new Map<string, string>();
  writtenCount = 0;

  /** Applies the batch that `write` fills. */
  commit(write: (batch: NftBatch) => void): void {
    const batch = new NftBatch(1);
    write(batch);
    for (const { type, body } of readMessages(batch.finish().bytes)) {
      if (type !== MESSAGE.newElements && type !== MESSAGE.deleteElements) continue;
      const attributes = body.subarray(HEADER_BYTES);
      const set = textOf(readAttributes(attributes).get(ELEMENTS.set));
      decodeElements(attributes, ({ key, value = '' }) => {
        this.writtenCount += 1;
        const place = placeText(set, key);
        if (type === MESSAGE.deleteElements) {
          assert.ok(this.elements.delete(place), `deletes ${place}, which is not there`);
        } else {
          assert.ok(!this.elements.has(place), `adds ${place}, which is there`);
          this.elements.set(place, value);
        }
      });
    }
  }
}

export function placeText(set: string, key: string): string {
  return `${set} ${Buffer.from(key, 'latin1').toString('hex')}`;
}
