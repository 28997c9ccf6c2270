import type { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { writeExpression } from './expressions.ts';
import { byteOrderOf, dataTypeOf, keyLength, paddedLength, typeOf } from './fields.ts';
import type { SetSpec } from './nft-objects.ts';
import { LIST_ITEM, SET, SET_DESCRIPTION, SET_FLAG, VERDICT_TYPE } from './nftables-protocol.ts';
import { type Binary, commentUdata, u32, udata } from './userdata.ts';

const VERDICT_BYTES = 16;
const SET_UDATA = {
  keyByteOrder: 0,
  dataByteOrder: 1,
  keyTypeOf: 3,
  dataTypeOf: 4,
  dataInterval: 6,
  comment: 7,
} as const;

/** All properties of a set, except for its table and its id in a batch. */
export function writeSetDefinition(w: NetlinkWriter, set: SetSpec): void {
  w.text(SET.name, set.name);
  w.u32be(SET.flags, setFlags(set));
  w.u32be(SET.keyType, dataTypeOf(set.key));
  w.u32be(SET.keyLength, keyLength(set.key));
  if (set.value === 'verdict') {
    w.u32be(SET.dataType, VERDICT_TYPE);
    w.u32be(SET.dataLength, VERDICT_BYTES);
  } else if (set.value) {
    w.u32be(SET.dataType, dataTypeOf(set.value));
    w.u32be(SET.dataLength, keyLength(set.value));
  }
  describe(w, set);
  w.binary(SET.userdata, setUserdata(set));
  if (set.hasCounters) writeExpression(w, SET.expression, { name: 'counter' });
}

export function setFlags(set: SetSpec): number {
  return (
    (set.value ? SET_FLAG.map : 0) |
    (set.isInterval ? SET_FLAG.interval : 0) |
    (set.isInterval && set.key.length > 1 ? SET_FLAG.concat : 0) |
    (set.hasTimeouts ? SET_FLAG.timeout : 0) |
    (set.dynamicSize === undefined ? 0 : SET_FLAG.timeout | SET_FLAG.evaluated)
  );
}

export function setUserdata(set: SetSpec): Binary {
  const key = udata(SET_UDATA.keyByteOrder, u32(byteOrderOf(set.key)));
  const keyTypeOf = udata(SET_UDATA.keyTypeOf, typeOf(set.key));
  const comment = commentUdata(SET_UDATA.comment, set.comment);
  if (!set.value) return key + keyTypeOf + comment;
  const value = set.value;
  const order = value === 'verdict' ? 0 : byteOrderOf(value);
  const valueTypeOf = value === 'verdict' ? VERDICT_TYPE_OF : typeOf(value);
  return (
    key +
    udata(SET_UDATA.dataByteOrder, u32(order)) +
    keyTypeOf +
    udata(SET_UDATA.dataTypeOf, valueTypeOf) +
    udata(SET_UDATA.dataInterval, u32(0)) +
    comment
  );
}

const VERDICT_TYPE_OF = udata(0, u32(1)) + udata(1, '');

/** The lengths of the fields, which an interval of several needs; how many there may be. */
function describe(w: NetlinkWriter, set: SetSpec): void {
  const nest = w.beginNested(SET.description);
  if (set.dynamicSize !== undefined) w.u32be(SET_DESCRIPTION.size, set.dynamicSize);
  if (set.isInterval && set.key.length > 1) {
    const fields = w.beginNested(SET_DESCRIPTION.concat);
    for (const field of set.key) {
      const item = w.beginNested(LIST_ITEM);
      w.u32be(1, paddedLength(field));
      w.endNested(item);
    }
    w.endNested(fields);
  }
  w.endNested(nest);
}
