import { readFileSync } from 'node:fs';
import { formatIp, parseIp } from '../../../addresses/ip.ts';
import type { Drop, DropWatch, End, Tuple } from '../../drops/drop.ts';
import type { BpfObject } from '../bpf-object.ts';
import { BtfKind, TYPE_BYTES } from '../btf.ts';
import { nameAt } from '../info.ts';
import { KernelTypes } from '../kernel-types.ts';
import { type LoadedObject, loadObject } from '../load-object.ts';
import type { BpfMap } from '../map.ts';
import { attachTracepoint, tracepointArguments } from '../tracepoint.ts';

const PROGRAM = 'fairlead_drops';
const LEAST_ENTRIES = 16;

export interface WatchedDrops {
  /** bpf/drop.bpf.c, compiled. */
  readonly object: BpfObject;
  /**
   * A drop is reported if the source or the destination of the packet, or of the first packet of its
   * conntrack entry, is one of these.
   */
  readonly ends: readonly End[];
  /** Inode numbers; undefined: all of the machine. */
  readonly networkNamespaces?: readonly number[];
}

/**
 * Collects the packets of one connection that the kernel drops from now on until the signal is
 * aborted. The program is held by descriptors alone, so it ends with this process at the latest.
 */
export function watchDrops(wanted: WatchedDrops, signal: AbortSignal): DropWatch {
  signal.throwIfAborted();
  const kernel = new KernelTypes();
  const withReasons = hasReasons(kernel);
  const loaded = load(wanted, { kernel, withReasons });
  try {
    fill(loaded, wanted);
    const link = attachTracepoint(programOf(loaded));
    signal.addEventListener('abort', () => {
      link.close();
      loaded.close();
    });
  } catch (error) {
    loaded.close();
    throw error;
  }
  const names = withReasons ? dropReasons(kernel) : new Map<number, string>();
  return {
    hasReasons: withReasons,
    read: () => named(takeAll(mapOf(loaded, 'drops')), withReasons ? names : undefined),
    lost: () => Number(mapOf(loaded, '.bss').lookup(Buffer.alloc(4))?.readBigUInt64LE(0) ?? 0n),
  };
}

function load(
  { object, ends, networkNamespaces }: WatchedDrops,
  { kernel, withReasons }: { readonly kernel: KernelTypes; readonly withReasons: boolean },
): LoadedObject {
  return loadObject(object, {
    kernel,
    programs: [{ name: PROGRAM }],
    maxEntries: new Map([
      ['ends', Math.max(LEAST_ENTRIES, ends.length)],
      ['namespaces', Math.max(LEAST_ENTRIES, networkNamespaces?.length ?? 0)],
    ]),
    variables: new Map([
      ['has_reason', Buffer.from([withReasons ? 1 : 0])],
      ['some_namespaces', Buffer.from([networkNamespaces === undefined ? 0 : 1])],
    ]),
  });
}

function fill(loaded: LoadedObject, { ends, networkNamespaces = [] }: WatchedDrops): void {
  const present = Buffer.from([1]);
  for (const end of ends) mapOf(loaded, 'ends').update(encodeEnd(end), present);
  for (const number of networkNamespaces) {
    const key = Buffer.alloc(4);
    key.writeUInt32LE(number);
    mapOf(loaded, 'namespaces').update(key, present);
  }
}

function takeAll(queue: BpfMap): RawDrop[] {
  const taken: RawDrop[] = [];
  // No more than fit: under a flood of drops this ends too.
  for (let count = 0; count < queue.maxEntries; count += 1) {
    const bytes = queue.take();
    if (bytes === undefined) break;
    taken.push(decodeDrop(bytes));
  }
  return taken;
}

/** `reasons`: undefined if this kernel gives none. */
function named(
  drops: readonly RawDrop[],
  reasons: ReadonlyMap<number, string> | undefined,
): Drop[] {
  const functions = functionsAt(new Set(drops.map(({ location }) => location)));
  return drops.map(({ location, reasonNumber, ...drop }) => ({
    ...drop,
    reason: reasons && (reasons.get(reasonNumber) ?? String(reasonNumber)),
    function: functions.get(location),
  }));
}

function programOf({ programs }: LoadedObject): Parameters<typeof attachTracepoint>[0] {
  const program = programs.get(PROGRAM);
  if (program === undefined) throw new TypeError(`the object has no program ${PROGRAM}`);
  return program;
}

function mapOf({ maps }: LoadedObject, name: string): BpfMap {
  const map = maps.get(name);
  if (map === undefined) throw new TypeError(`the object has no map ${name}`);
  return map;
}

const PREFIX = /^SKB_(DROP_REASON_)?/;
const ENUMERATOR_BYTES = 8;
/** The packet, the place, and the reason. */
const ARGUMENTS_WITH_REASON = 3;

/** Whether the tracepoint of drops has a reason: since Linux 5.17. */
function hasReasons(kernel: KernelTypes): boolean {
  return tracepointArguments(kernel, 'kfree_skb') >= ARGUMENTS_WITH_REASON;
}

/** Names of the reasons by number, which differ from one version of the kernel to the next. */
function dropReasons(kernel: KernelTypes): ReadonlyMap<number, string> {
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

const SYMBOLS = '/proc/kallsyms';
/** `ffffffff81000000 T name`, with the module after a tab. */
const LINE = /^([0-9a-f]+) [tTwW] ([^\s]+)/;

/**
 * The functions that these addresses are in. Without CAP_SYSLOG every address in the file is zero,
 * and nothing is found.
 */
function functionsAt(
  locations: ReadonlySet<bigint>,
  path: string = SYMBOLS,
): ReadonlyMap<bigint, string> {
  const best = new Map<bigint, { readonly at: bigint; readonly name: string }>();
  for (const line of locations.size === 0 ? [] : readFileSync(path, 'latin1').split('\n')) {
    const [, digits = '', name = ''] = LINE.exec(line) ?? [];
    const at = BigInt(`0x${digits === '' ? '0' : digits}`);
    if (at === 0n) continue;
    for (const location of locations) {
      if (at <= location && at > (best.get(location)?.at ?? 0n)) best.set(location, { at, name });
    }
  }
  return new Map([...best].map(([location, { name }]) => [location, name]));
}

/** Without the names of the kernel, which are found for all at once. */
interface RawDrop extends Omit<Drop, 'reason' | 'function'> {
  readonly reasonNumber: number;
  readonly location: bigint;
}

const END_BYTES = 20;
const PACKET_AT = 40;
const ORIGINAL_AT = 80;
const IPV4_MAPPED = Buffer.from('00000000000000000000ffff', 'hex');

/** `struct end` of bpf/drop.bpf.c. */
function encodeEnd({ address, port, protocol }: End): Buffer {
  const bytes = Buffer.alloc(END_BYTES);
  if (address !== undefined) {
    const parsed = parseIp(address);
    if (parsed === undefined) throw new RangeError(`${address} is no IP address`);
    if (parsed.version === 4) bytes.set(IPV4_MAPPED);
    bytes.set(parsed.bytes, parsed.version === 4 ? IPV4_MAPPED.length : 0);
  }
  bytes.writeUInt16BE(port, 16);
  bytes.writeUInt8(protocol, 18);
  return bytes;
}

/** `struct drop` of bpf/drop.bpf.c. */
function decodeDrop(bytes: Buffer): RawDrop {
  const packet = decodeTuple(bytes.subarray(PACKET_AT, ORIGINAL_AT));
  const original = decodeTuple(bytes.subarray(ORIGINAL_AT));
  const known = packet ?? original;
  if (known === undefined) throw new RangeError('a drop has neither packet nor conntrack entry');
  return {
    location: bytes.readBigUInt64LE(0),
    reasonNumber: bytes.readUInt32LE(8),
    networkNamespace: bytes.readUInt32LE(12),
    device: nameAt(bytes.subarray(20, PACKET_AT), 0),
    packet: known,
    original,
  };
}

function decodeTuple(bytes: Buffer): Tuple | undefined {
  if (bytes.readUInt8(37) === 0) return undefined;
  return {
    protocol: bytes.readUInt8(36),
    source: addressText(bytes.subarray(0, 16)),
    sourcePort: bytes.readUInt16BE(32),
    destination: addressText(bytes.subarray(16, 32)),
    destinationPort: bytes.readUInt16BE(34),
  };
}

function addressText(bytes: Buffer): string {
  const isIpv4 = bytes.subarray(0, IPV4_MAPPED.length).equals(IPV4_MAPPED);
  return isIpv4
    ? formatIp({ version: 4, bytes: bytes.subarray(IPV4_MAPPED.length) })
    : formatIp({ version: 6, bytes });
}
