import type { Difference } from '../../dataplanes/contract.ts';
import { check } from '../doctor-check.ts';
import { listedNames, ok, problem } from '../finding.ts';

interface Facts {
  readonly differences: readonly Difference[] | undefined;
  /** The objects of the mode itself are missing then. */
  readonly isFallback: boolean;
}

export const KERNEL_STATE = check<Facts>({
  name: 'kernel-state',
  read: async ({ node, agent }) => ({
    differences: await node?.differences(),
    isFallback: agent.state === 'answers' && agent.fallback !== undefined,
  }),
  judge: ({ differences, isFallback }) => {
    if (differences === undefined) return [];
    if (differences.length === 0) return [ok('the kernel has the desired state')];
    const objects = listedNames(differences.map(({ kind, object }) => `${kind} ${object}`));
    return [
      problem('KERNEL_DIFFERS', {
        what: `the kernel differs from the desired state in ${differences.length} objects: ${objects}`,
        why: isFallback
          ? 'the mode cannot be used (MODE_FALLBACK), so its own objects are missing'
          : 'connections to the Services of these objects go elsewhere, or nowhere',
        next: '`fairlead diff` lists all; `fairlead status` says why they are not repaired',
      }),
    ];
  },
});
