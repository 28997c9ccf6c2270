import { BtfKind, TYPE_BYTES } from '../btf.ts';
import type { KernelTypes } from '../kernel-types.ts';
import { tracepointArguments } from '../tracepoint.ts';

const PREFIX = /^SKB_(DROP_REASON_)?/;
const ENUMERATOR_BYTES = 8;
/** The packet, the place, and the reason. */
const ARGUMENTS_WITH_REASON = 3;

/** Whether the tracepoint of drops has a reason: since Linux 5.17. */
export function hasReasons(kernel: KernelTypes): boolean {
  return tracepointArguments(kernel, 'kfree_skb') >= ARGUMENTS_WITH_REASON;
}

/** Names of the reasons by number, which differ from one version of the kernel to the next. */
export function dropReasons(kernel: KernelTypes): ReadonlyMap<number, string> {
  const [found] = kernel.named(BtfKind.enum, 'skb_drop_reason');
  if (found === undefined) return new Map();
  const { btf, typeId } = found;
  const start = btf.offsetOf(typeId) + TYPE_BYTES;
  const names = new Map<number, string>();
  for (let index = 0; index < btf.count(typeId); index += 1) {
    const at = start + index * ENUMERATOR_BYTES;
    const name = btf.string(btf.bytes.readUInt32LE(at)).replace(PREFIX, '');
    names.set(btf.bytes.readUInt32LE(at + 4), name);
  }
  return names;
}
