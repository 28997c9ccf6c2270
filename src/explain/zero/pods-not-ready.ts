import { countText } from '../explain-words.ts';
import { kubectlLine } from './kubectl-line.ts';
import { type PodTrouble, podTrouble } from './pod-trouble.ts';
import { type Labels, labelsText, MOST_OBJECTS, type PodThere } from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

/** Different troubles that a sentence tells of. */
const MOST_TROUBLES = 3;

interface Troubled extends PodTrouble {
  readonly pod: PodThere;
  readonly others: number;
}

/** Why none of the pods serves. `where`: ` on this node`, or nothing. */
export function podsNotReady(
  pods: readonly PodThere[],
  asked: { readonly namespace: string; readonly selector: Labels; readonly where?: string },
): ZeroReason {
  const { namespace, selector, where = '' } = asked;
  const troubled = groupsOf(pods);
  const matching = `${labelsText(selector)}${where}`;
  const [first] = troubled;
  const areEnding = pods.every(({ isTerminating }) => isTerminating);
  const list = kubectlLine(namespace, 'get', 'pods', '-o', 'wide', '-l', labelsText(selector));
  const isList = first === undefined || areEnding;
  return {
    cause: areEnding ? 'only terminating' : 'no pod is ready',
    text: pods.length === 1 ? ofOne(troubled, matching) : ofMany(troubled, pods.length, matching),
    next: [isList ? list : kubectlLine(namespace, ...first.next)],
  };
}

function ofOne(troubled: readonly Troubled[], matching: string): string {
  const said = troubled.map(
    ({ pod, text }) => `only pod ${pod.name} matches ${matching}, and it ${text}`,
  );
  return said.join('; ');
}

function ofMany(troubled: readonly Troubled[], count: number, matching: string): string {
  const said = troubled.slice(0, MOST_TROUBLES).map(({ pod, text, others }) => {
    const more = others === 0 ? '' : ` (and ${countText(others, 'other')})`;
    return `${pod.name} ${text}${more}`;
  });
  const least = count < MOST_OBJECTS ? '' : 'at least ';
  return `${least}${count} pods match ${matching}, and none is ready: ${said.join('; ')}`;
}

/** One for each trouble, those that will not end by themselves first. */
function groupsOf(pods: readonly PodThere[]): readonly Troubled[] {
  const groups = new Map<string, Troubled>();
  for (const pod of pods) {
    const trouble = podTrouble(pod);
    if (trouble === undefined) continue;
    const known = groups.get(trouble.text);
    groups.set(
      trouble.text,
      known === undefined ? { ...trouble, pod, others: 0 } : { ...known, others: known.others + 1 },
    );
  }
  return [...groups.values()].sort(
    (a, b) => Number(a.pod.isTerminating) - Number(b.pod.isTerminating),
  );
}
