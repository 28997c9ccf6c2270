import type { Netlink } from '../netlink/netlink-socket.ts';
import { type NetlinkMessage, readAttributes, textOf } from '../netlink/reader.ts';
import { decodeElements, type StoredElement } from './decode-elements.ts';
import {
  CHAIN,
  ELEMENTS,
  familyOfNumber,
  GENERATION,
  MESSAGE,
  RULE,
  SET,
  TABLE,
  type TableFamily,
} from './nftables-protocol.ts';
import { unsigned32 } from './read-numbers.ts';

const HEADER_BYTES = 4;

export type NftObjectKind = 'table' | 'chain' | 'rule' | 'set' | 'elements';

/** A change to an object of a table. */
export interface NftEvent {
  readonly change: 'new' | 'deleted';
  readonly kind: NftObjectKind;
  readonly family: TableFamily;
  readonly table: string;
  /** The name of a chain or set; for a rule its chain, for elements their set. */
  readonly name: string;
  readonly elements: readonly StoredElement[];
  /** The socket it was changed through. */
  readonly portId: number;
}

/** The process that committed the preceding events. */
export interface NftCommit {
  readonly processId: number;
  readonly processName: string;
  readonly portId: number;
}

export interface NftEventListener {
  /** Changes made through this socket are not reported. */
  isOurs?(portId: number): boolean;
  onEvent(event: NftEvent): void;
  onCommit(commit: NftCommit): void;
  /** Events were lost: anything may have changed. */
  onOverrun(): void;
}

const KINDS: ReadonlyMap<
  number,
  { change: NftEvent['change']; kind: NftObjectKind; name: number }
> = new Map([
  [MESSAGE.newTable, { change: 'new', kind: 'table', name: TABLE.name }],
  [MESSAGE.deleteTable, { change: 'deleted', kind: 'table', name: TABLE.name }],
  [MESSAGE.newChain, { change: 'new', kind: 'chain', name: CHAIN.name }],
  [MESSAGE.deleteChain, { change: 'deleted', kind: 'chain', name: CHAIN.name }],
  [MESSAGE.newRule, { change: 'new', kind: 'rule', name: RULE.chain }],
  [MESSAGE.deleteRule, { change: 'deleted', kind: 'rule', name: RULE.chain }],
  [MESSAGE.newSet, { change: 'new', kind: 'set', name: SET.name }],
  [MESSAGE.deleteSet, { change: 'deleted', kind: 'set', name: SET.name }],
  [MESSAGE.newElements, { change: 'new', kind: 'elements', name: ELEMENTS.set }],
  [MESSAGE.deleteElements, { change: 'deleted', kind: 'elements', name: ELEMENTS.set }],
]);

/** Every kind of object names its table by the same attribute. */
const TABLE_NAME = 1;

/** Reports changes of all processes, each followed by its process, until the signal is aborted. */
export async function listenToNftables(
  netlink: Netlink,
  listener: NftEventListener,
  signal: AbortSignal,
): Promise<void> {
  await netlink.listen(
    {
      onMessage(message) {
        const commit = decodeCommit(message);
        if (commit) listener.onCommit(commit);
        const event = decodeEvent(message);
        if (event) listener.onEvent(event);
      },
      isSkipped: (portId) => listener.isOurs?.(portId) ?? false,
      onOverrun: () => listener.onOverrun(),
    },
    signal,
  );
}

export function decodeCommit(message: NetlinkMessage): NftCommit | undefined {
  if (message.type !== MESSAGE.newGeneration) return undefined;
  const body = readAttributes(message.body.subarray(HEADER_BYTES));
  return {
    processId: unsigned32(body.get(GENERATION.processId)) ?? 0,
    processName: textOf(body.get(GENERATION.processName)),
    portId: message.portId,
  };
}

export function decodeEvent(message: NetlinkMessage): NftEvent | undefined {
  const known = KINDS.get(message.type);
  const family = familyOfNumber(message.body[0]);
  if (!known || !family) return undefined;
  const body = message.body.subarray(HEADER_BYTES);
  const attributes = readAttributes(body);
  const elements: StoredElement[] = [];
  if (known.kind === 'elements') decodeElements(body, (element) => elements.push(element));
  return {
    change: known.change,
    kind: known.kind,
    family,
    table: textOf(attributes.get(TABLE_NAME)),
    name: textOf(attributes.get(known.name)),
    elements,
    portId: message.portId,
  };
}
