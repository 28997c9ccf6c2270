import type { Difference } from '../../dataplanes/contract.ts';
import { check } from '../doctor-check.ts';
import { listedNames, ok, problem } from '../finding.ts';

export const KERNEL_STATE = check<readonly Difference[] | undefined>({
  name: 'kernel-state',
  read: async ({ node }) => await node?.differences(),
  judge: (differences) => {
    if (differences === undefined) return [];
    if (differences.length === 0) return [ok('the kernel has the desired state')];
    const objects = listedNames(differences.map(({ kind, object }) => `${kind} ${object}`));
    return [
      problem('KERNEL_DIFFERS', {
        what: `the kernel differs from the desired state in ${differences.length} objects: ${objects}`,
        why: 'connections to the Services of these objects go elsewhere, or nowhere',
        next: '`fairlead diff` lists all; `fairlead status` says why they are not repaired',
      }),
    ];
  },
});
