import type { RecordedObject } from './record.ts';

export interface OffResult {
  readonly done: readonly string[];
  readonly kept: readonly string[];
  readonly isHere: boolean;
}

const KEPT = 'kept, because they were changed since; delete them if you do not need them:';

/** The first line says it all; each step and files that were kept below. */
export function offPage({ done, kept, isHere }: OffResult): string {
  const head = `Fairlead is removed from ${isHere ? 'this machine' : 'the folder'}`;
  const told = kept.length === 0 ? [] : ['', KEPT, ...kept];
  return [head, ...(done.length === 0 ? [] : ['', ...done]), ...told].join('\n');
}

/** Without a record it is not known which account was of this machine, or whether there was one. */
export function unknownAccountText(labels: Readonly<Record<string, string>>): string {
  const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    'the account of this machine in the cluster is not recorded here (any more); to find it:',
    `kubectl get sa,roles,rolebindings,clusterroles,clusterrolebindings -A \\\n  -l ${selector.join(',')}`,
  ].join('\n');
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
