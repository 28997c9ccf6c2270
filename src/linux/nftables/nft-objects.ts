import type { Expression } from './expressions.ts';
import type { Field } from './fields.ts';
import type { AnyFamily, HOOK_NUMBER, VERDICT_CODE } from './nftables-protocol.ts';
import type { Binary } from './userdata.ts';

export interface TableRef {
  readonly family: AnyFamily;
  readonly name: string;
}

export interface BaseHook {
  /** `route`: a packet whose mark it changes is routed anew. */
  readonly type: 'filter' | 'nat' | 'route';
  readonly hook: keyof typeof HOOK_NUMBER;
  readonly priority: number;
}

export interface ChainSpec {
  readonly name: string;
  /** Undefined: reached only by jumps. */
  readonly base?: BaseHook;
}

export interface RuleSpec {
  readonly chain: string;
  readonly expressions: readonly Expression[];
  readonly comment?: string;
}

export interface SetSpec {
  readonly name: string;
  readonly comment: string;
  readonly key: readonly Field[];
  /** Undefined: a set, not a map. */
  readonly value?: readonly Field[] | 'verdict';
  readonly isInterval?: boolean;
  readonly hasCounters?: boolean;
  /** Elements may end by themselves. */
  readonly hasTimeouts?: boolean;
  /** Packets write it: the most elements it may hold. */
  readonly dynamicSize?: number;
}

/** An element as the kernel stores it; keys and values are strings of one character a byte. */
export interface SetElement {
  readonly key: Binary;
  /** The end of an interval, the last that belongs to it. */
  readonly keyEnd?: Binary;
  readonly value?: Binary;
  readonly verdict?: { readonly code: keyof typeof VERDICT_CODE; readonly chain?: string };
  readonly comment?: string;
  /** After this the kernel deletes it; only where the set has timeouts. */
  readonly timeoutMs?: number;
}
