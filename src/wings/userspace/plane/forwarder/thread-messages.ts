import type { MessagePort } from 'node:worker_threads';
import type { EndpointList } from '../../../../forwarding/model.ts';
import type { Ports } from '../../../../linux/userspace/source-ports.ts';
import type { HeldListener, WireConnection } from '../forwarder-protocol.ts';
import type { SharedMemory } from './slots.ts';

/**
 * What the main thread of the forwarder and the threads that copy say to each other, on a
 * MessagePort. A copying thread never returns to its event loop: the main thread writes to its
 * eventfd after each message, and the thread reads its port when epoll reports it.
 */

export type ToThread =
  /** These slots left their rows: attempts to connect to one go on to another endpoint at once. */
  | { readonly tell: 'gone'; readonly slots: readonly number[] }
  /** Answer to `stick`; null: no endpoint is left. Else the connection counts in the slot already. */
  | { readonly tell: 'stick'; readonly connection: number; readonly slot: number | null }
  | { readonly tell: 'pulse'; readonly id: number }
  | { readonly tell: 'connections'; readonly id: number; readonly most: number }
  | {
      readonly tell: 'end';
      readonly id: number;
      readonly connections: readonly Pick<WireConnection, 'client' | 'frontend'>[];
    }
  | { readonly tell: 'accept'; readonly id: number; readonly isWanted: boolean }
  /** Remove every pair that can move from epoll, forget it without closing it, and answer `moved`. */
  | { readonly tell: 'give-pairs'; readonly id: number }
  /** All given descriptors were taken (or not): close them, or go on with them. */
  | { readonly tell: 'given'; readonly taken: boolean }
  /** Pairs of another process, with descriptors of this one. */
  | { readonly tell: 'take-pairs'; readonly pairs: readonly MovedPair[] }
  /** Reset everything and return from the loop. */
  | { readonly tell: 'stop' };

export type FromThread =
  | {
      readonly tell: 'stick';
      readonly connection: number;
      /** Its number. */
      readonly row: number;
      readonly list: EndpointList;
      readonly client: string;
      /** Slots that failed for this connection. */
      readonly not: readonly number[];
    }
  | {
      readonly tell: 'pulse';
      readonly id: number;
      readonly open: number;
      /** False: since the last pulse it could not hold a connection that it had accepted. */
      readonly hasRoom: boolean;
    }
  | {
      readonly tell: 'connections';
      readonly id: number;
      readonly first: readonly ThreadConnection[];
      readonly count: number;
    }
  | { readonly tell: 'ended'; readonly id: number; readonly count: number }
  | { readonly tell: 'done'; readonly id: number }
  | { readonly tell: 'moved'; readonly id: number; readonly pairs: readonly MovedPair[] };

/** With the slot in place of the row, which only the main thread knows. */
export interface ThreadConnection extends Omit<WireConnection, 'row' | 'endpoint' | 'ageMs'> {
  /** -1: none yet. */
  readonly slot: number;
  /** Of shared-clock.ts. */
  readonly openedAtMs: number;
}

/** An established pair without a byte in hand. */
export interface MovedPair extends Omit<ThreadConnection, 'state'> {
  readonly clientFd: number;
  readonly endpointFd: number;
  /** Whether the end of a stream was already announced, so that the next read goes to the end. */
  readonly isClientEnding: boolean;
  readonly isEndpointEnding: boolean;
}

/** What a thread starts with (workerData). Nothing is accepted before it is wanted. */
export interface ThreadStart {
  /** Shared by all threads. */
  readonly listeners: readonly HeldListener[];
  readonly wakeFd: number;
  /** False: answers to another address than the machine's own would not come back. */
  readonly keepsClientAddress: boolean;
  readonly port: MessagePort;
  /** Of all threads. */
  readonly memory: SharedMemory;
  /** Of this thread alone. */
  readonly counts: SharedArrayBuffer;
  /** Connections that all threads together may hold; more are reset. */
  readonly mostConnections: number;
  /** A pair with one side at its end, in which nothing moves for so long, is reset. */
  readonly halfClosedMs: number;
  /** Of its own end towards endpoints. */
  readonly ports: Ports;
}
