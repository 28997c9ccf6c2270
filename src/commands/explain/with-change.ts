import type { ClusterError } from '../../cluster/cluster-error.ts';
import { ManifestsSource } from '../../cluster/manifests-source.ts';
import type { Change } from '../../forwarding/row-changes.ts';
import type { ObservedNode } from '../desired.ts';

/**
 * Puts the objects of manifests in the place of those of the same kind and name, in memory only.
 * Gives the rows that change. Throws ClusterError.
 */
export async function applyManifests(
  { intake }: ObservedNode,
  { paths, nodeName }: { readonly paths: readonly string[]; readonly nodeName: string },
): Promise<readonly Change[]> {
  intake.table.takeChanges();
  const problems: ClusterError[] = [];
  const source = new ManifestsSource({
    paths,
    isWatching: false,
    nodeName,
    onProblem: (problem) => void problems.push(problem),
  });
  await source.run((event) => {
    if (event.type === 'put') intake.take(event);
  }, new AbortController().signal);
  const [first] = problems;
  if (first !== undefined) throw first;
  return intake.table.takeChanges();
}
