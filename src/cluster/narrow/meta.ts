import { isRecord, type JsonRecord, recordAt, textAt } from '../json.ts';
import type { ObjectKey } from '../object-kinds.ts';
import type { Stamp } from '../stamp.ts';
import type { Interner } from './interner.ts';

/** An object that has at least a name, with the parts that every kind reads. */
export interface Named {
  readonly raw: JsonRecord;
  readonly metadata: JsonRecord;
  readonly spec: JsonRecord;
  readonly labels: JsonRecord;
  readonly name: string;
  readonly namespace: string;
}

/** A narrowed API object with its key and version. */
export interface Narrowed<T> {
  readonly key: ObjectKey;
  /** Empty if there is none, as in manifests. */
  readonly resourceVersion: string;
  readonly object: T;
  /** Undefined: of the initial list. */
  readonly stamp?: Stamp;
}

/** Names of the API are DNS names; none is longer. */
const LONGEST_NAME = 253;
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/**
 * Whether the API server would accept it as a name. Manifests come without that check, and names
 * end up in keys (`a/b` in `c` must differ from `b` in `c/a`), in quoted comments of rules that
 * iptables-restore reads, in URLs, and on terminals.
 */
export function isName(text: string): boolean {
  return text.length <= LONGEST_NAME && NAME.test(text);
}

export function readNamed(raw: unknown, interner: Interner): Named | undefined {
  if (!isRecord(raw)) return undefined;
  const metadata = recordAt(raw, 'metadata');
  const name = textAt(metadata, 'name');
  const namespace = textAt(metadata, 'namespace');
  if (!isName(name) || (namespace !== '' && !isName(namespace))) return undefined;
  return {
    raw,
    metadata,
    spec: recordAt(raw, 'spec'),
    labels: recordAt(metadata, 'labels'),
    name,
    namespace: interner.text(namespace),
  };
}

export function keyOf({ namespace, name }: Named): ObjectKey {
  // Joined, not concatenated: V8 keeps a concatenation as a tree of its parts.
  return namespace === '' ? name : [namespace, name].join('/');
}
