import { arrayAt, booleanAt, isRecord, recordAt, textAt } from '../../cluster/json.ts';
import { CommandError, WRONG_USAGE_EXIT } from '../../commands/command-error.ts';
import { visible } from '../../commands/terminal/visible.ts';
import { isDnsLabel } from '../../labels/names.ts';
import { getJson, type Kubectl } from './kubectl.ts';

/** A pod, read with the person's own rights: the agent's account cannot read pods. */
export interface NamedPod {
  readonly node: string;
  readonly addresses: readonly string[];
  readonly isHostNetwork: boolean;
}

const POD_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Throws where kubectl could take a part of it for something else than a name, such as an option. */
function assertName(name: string, [namespace = '', pod = '']: readonly string[]): void {
  if (isDnsLabel(namespace) && POD_NAME.test(pod)) return;
  throw new CommandError(`'${visible(name)}' is no name of a pod`, {
    code: 'USAGE',
    next: 'use NAMESPACE/NAME, in lower case, as `kubectl get pods -A` prints them',
    exitCode: WRONG_USAGE_EXIT,
  });
}

/** `name`: `namespace/name`. */
export async function readPod(
  kubectl: Kubectl,
  name: string,
  timeoutMs: number,
): Promise<NamedPod> {
  const [namespace = '', pod = ''] = name.split('/');
  assertName(name, [namespace, pod]);
  const raw = await getJson(kubectl, ['get', 'pod', '-n', namespace, pod], { timeoutMs });
  const spec = recordAt(raw, 'spec');
  const addresses = arrayAt(recordAt(raw, 'status'), 'podIPs')
    .filter(isRecord)
    .map((each) => textAt(each, 'ip'));
  const node = textAt(spec, 'nodeName');
  if (node !== '' && addresses.length > 0) {
    return { node, addresses, isHostNetwork: booleanAt(spec, 'hostNetwork') === true };
  }
  throw new CommandError(`pod ${name} has no address yet`, {
    code: 'POD_NOT_STARTED',
    next: `kubectl -n ${namespace} describe pod ${pod}`,
  });
}

/** Its address of the family that the target has; the first where a Service is named. */
export function addressFor({ addresses }: NamedPod, target: string): string {
  const wantsIpv6 = target.startsWith('[');
  const isService = target.includes('/') && !/^[[\d]/.test(target);
  const fits = addresses.find((address) => address.includes(':') === wantsIpv6);
  return (isService ? addresses[0] : fits) ?? addresses[0] ?? '';
}
