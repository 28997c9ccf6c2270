import type { RecordedObject } from './record.ts';

export interface OffResult {
  readonly done: readonly string[];
  readonly kept: readonly string[];
  readonly isHere: boolean;
}

/** The first line says it all; files that were kept below. */
export function offPage({ done, kept, isHere }: OffResult): string {
  const what = isHere
    ? 'Fairlead is removed from this machine'
    : 'Fairlead is removed from the folder';
  const head = done.length === 0 ? what : `${what}: ${done.join(', ')}`;
  if (kept.length === 0) return head;
  return [head, '', 'kept, because they were changed since (--force removes them):', ...kept].join(
    '\n',
  );
}

/** kubectl commands that delete the objects: one for each namespace. */
export function deletionCommands(objects: readonly RecordedObject[]): string {
  const byNamespace = Map.groupBy(objects.toReversed(), ({ namespace }) => namespace);
  return [...byNamespace]
    .map(([namespace, each]) => {
      const names = each.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`).join(' ');
      return `kubectl delete ${namespace === '' ? '' : `-n ${namespace} `}${names}`;
    })
    .join('\n');
}
