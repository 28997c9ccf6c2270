import type { Kind, KindValues } from '../field-kinds.ts';
import type { ModeName } from '../modes.ts';

/** One field of the configuration file. */
export type FieldRow = { readonly [K in Kind]: RowOfKind<K> }[Kind];

interface RowOfKind<K extends Kind> {
  readonly kind: K;
  readonly about: string;
  /** Default of kube-proxy 1.37. */
  readonly kubeProxyDefault: KindValues[K];
  /** Default of Fairlead, if it differs; `why` has the reason. */
  readonly ownDefault?: KindValues[K];
  readonly why?: string;
  /** A default that depends on another field, in words; `derived.ts` computes it. */
  readonly defaultFollows?: string;
  /** Zero and the empty text stand for the default, because that is how Go writes "not set". */
  readonly zeroIsUnset?: true;
  readonly choices?: readonly string[];
  /** Bounds, checked where the mode reads the field. Durations count in milliseconds. */
  readonly min?: number;
  readonly max?: number;
  readonly aboveZero?: true;
  /** Reason why the field is accepted but has no effect. */
  readonly noEffect?: string;
  /** Read in these modes only. */
  readonly modes?: readonly ModeName[];
  /** Whether a change needs a restart. */
  readonly change: 'live' | 'restart';
}

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
