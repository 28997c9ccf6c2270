import { endpointKey } from '../../forwarding/endpoints.ts';
import type { NodeView } from '../../forwarding/model.ts';
import type { EmptyRow } from './empty-row.ts';
import { kubectlLine } from './kubectl-line.ts';
import { matchingPods } from './no-endpoint.ts';
import { podTrouble } from './pod-trouble.ts';
import { podsNotReady } from './pods-not-ready.ts';
import { knownOf, type Surroundings } from './surroundings.ts';
import type { ZeroReason } from './zero-reason.ts';

/**
 * Why no endpoint of this node serves, where others do: it has one that is not ready. Undefined: it
 * has none.
 */
export function whyNoneHere(
  { id, candidates }: EmptyRow,
  around: Surroundings,
  { nodeName }: Pick<NodeView, 'nodeName'>,
): ZeroReason | undefined {
  const { namespace } = id;
  const service = knownOf(around.service);
  const pods = matchingPods(service, around).filter((pod) => pod.nodeName === nodeName);
  if (service && pods.length > 0 && pods.every((pod) => podTrouble(pod) !== undefined)) {
    const asked = { namespace, selector: service.selector, where: ` on node ${nodeName}` };
    return podsNotReady(pods, asked);
  }
  const here = candidates.filter(({ local }) => local);
  const [first] = here;
  if (first === undefined) return undefined;
  const which = here.map(endpointKey).join(', ');
  const isEnding = here.every(({ state }) => state === 'gone');
  return {
    cause: isEnding ? 'only terminating' : 'not ready',
    text: `its ${here.length === 1 ? 'endpoint' : 'endpoints'} on this node, ${which}, ${here.length === 1 ? 'is' : 'are'} ${isEnding ? 'terminating' : first.state}`,
    next: [
      kubectlLine(
        namespace,
        'get',
        'pods',
        '-o',
        'wide',
        `--field-selector=spec.nodeName=${nodeName}`,
      ),
    ],
    ...('unknown' in around.pods && around.pods.unknown !== ''
      ? { notKnown: around.pods.unknown }
      : {}),
  };
}
