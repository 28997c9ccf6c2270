import type { NodeObject, ServiceObject, SliceObject } from '../../cluster/objects.ts';
import type { Stamp } from '../../cluster/stamp.ts';

interface ChangeOf<K extends string, T> {
  readonly kind: K;
  /** `namespace/name`; the name of a Node. */
  readonly key: string;
  /** Undefined: it is new to this node. */
  readonly before: T | undefined;
  /** Undefined: it was deleted. */
  readonly after: T | undefined;
  /** Undefined: a new list differs, and no event told of it; or it comes from a manifest. */
  readonly stamp: Stamp | undefined;
}

/** An object of the API as it was and as it is. */
export type ObjectChange =
  | ChangeOf<'service', ServiceObject>
  | ChangeOf<'slice', SliceObject>
  | ChangeOf<'node', NodeObject>;
