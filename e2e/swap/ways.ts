import { type Step, stepsIn, withSteps } from './procedure.ts';

export type Way = 'steps' | 'helm' | 'one-line';

/** The sections of docs/install.md that lead there and back. */
interface Sections {
  readonly there: string;
  readonly back: string;
}

const SECTIONS: Readonly<Record<'steps' | 'one-line', Sections>> = {
  steps: { there: '### Step by step', back: '## And back' },
  'one-line': { there: '### One line', back: '### One line, back' },
};

/** The steps that have other commands with Helm. */
const HELM_SECTIONS: Sections = {
  there: '### In place of kube-proxy, with Helm',
  back: '### And back, with Helm',
};

export function procedureOf(way: Way, markdown: string, direction: keyof Sections): Step[] {
  if (way !== 'helm') return stepsIn(markdown, SECTIONS[way][direction]);
  const steps = stepsIn(markdown, SECTIONS.steps[direction]);
  return withSteps(steps, stepsIn(markdown, HELM_SECTIONS[direction]));
}
