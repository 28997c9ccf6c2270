import { check } from '../doctor-check.ts';
import { ok, problem, unasked } from '../finding.ts';
import { type Preflight, preflightOf, readMachine } from '../preflight.ts';

interface Facts {
  readonly preflight: readonly Preflight[];
  readonly usedMode: string;
}

export const MODES = check<Facts>({
  name: 'modes',
  read: async ({ modes, usedMode }) => ({
    preflight: preflightOf(modes, await readMachine()),
    usedMode,
  }),
  judge: ({ preflight, usedMode }) =>
    preflight.map(({ mode, missing }) => {
      if (missing.length === 0) return ok(`mode ${mode} can run here`);
      const what = `mode ${mode} needs ${missing.join(', ')}`;
      if (mode !== usedMode) return ok(`${what}, which is missing here`);
      // Whether the machine has it is not told by what this process lacks.
      if (missing.every((each) => each.startsWith('CAP_'))) {
        return unasked('NOT_PERMITTED', {
          what: `${what}, which this command lacks`,
          why: 'without it, part of what Services depend on cannot be read',
          next: 'run the command as root, or in the pod of the agent: kubectl exec … -- fairlead doctor',
        });
      }
      return problem('MODE_NEEDS', {
        what: `${what}, which is missing here`,
        why: `mode ${mode} is the one in use, or the default`,
        next: 'load the module or install the program, or use a mode that can run here (-v lists them)',
      });
    }),
});
