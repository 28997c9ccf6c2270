import { isRecord, type JsonRecord, recordAt, textAt } from '../json.ts';
import type { ObjectKey } from '../kinds.ts';
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

/** An object of the API, narrowed, with what tells it from others and from its other versions. */
export interface Narrowed<T> {
  readonly key: ObjectKey;
  /** Empty where there is none, as in manifests. */
  readonly resourceVersion: string;
  readonly object: T;
}

export function readNamed(raw: unknown, interner: Interner): Named | undefined {
  if (!isRecord(raw)) return undefined;
  const metadata = recordAt(raw, 'metadata');
  const name = textAt(metadata, 'name');
  if (name === '') return undefined;
  return {
    raw,
    metadata,
    spec: recordAt(raw, 'spec'),
    labels: recordAt(metadata, 'labels'),
    name,
    namespace: interner.text(textAt(metadata, 'namespace')),
  };
}

export function keyOf(named: Named): ObjectKey {
  return named.namespace === '' ? named.name : `${named.namespace}/${named.name}`;
}
