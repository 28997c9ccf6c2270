import { hostname } from 'node:os';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { isAlive } from '../../../linux/is-alive.ts';
import { getJson, type Kubectl } from '../kubectl.ts';
import { OWNER_ANNOTATION, POD_LABEL } from './pod-spec.ts';

/** Phases of pods whose containers have ended, as after their deadline. */
const ENDED: ReadonlySet<string> = new Set(['Failed', 'Succeeded']);

/**
 * Names of debug pods that nobody deletes any more: they have ended, or the process of this machine
 * that made them has. One that another machine made may be in use until its deadline ends it.
 */
export async function forgottenPods(
  kubectl: Kubectl,
  { namespace, timeoutMs }: { readonly namespace: string; readonly timeoutMs: number },
): Promise<readonly string[]> {
  const selector = `${POD_LABEL.key}=${POD_LABEL.value}`;
  const list = await getJson(kubectl, ['get', 'pods', '-n', namespace, '-l', selector], {
    timeoutMs,
  });
  return arrayAt(list, 'items')
    .filter(isRecord)
    .filter((pod) => isForgotten(pod, { host: hostname(), isAlive }))
    .map((pod) => textAt(recordAt(pod, 'metadata'), 'name'))
    .toSorted();
}

export function isForgotten(
  pod: JsonRecord,
  here: { readonly host: string; readonly isAlive: (pid: number) => boolean },
): boolean {
  if (ENDED.has(textAt(recordAt(pod, 'status'), 'phase'))) return true;
  const owner = textAt(recordAt(recordAt(pod, 'metadata'), 'annotations'), OWNER_ANNOTATION);
  const [, host, pid] = /^(.+)\/([1-9]\d{0,8})$/.exec(owner) ?? [];
  return host === here.host && !here.isAlive(Number(pid));
}
