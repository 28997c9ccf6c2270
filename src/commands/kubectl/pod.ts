import { arrayAt, booleanAt, isRecord, recordAt, textAt } from '../../cluster/json.ts';
import { CommandError } from '../command-error.ts';
import { getJson, type Kubectl } from './kubectl.ts';

/** A pod, read with the person's own rights: the agent's account cannot read pods. */
export interface NamedPod {
  readonly node: string;
  readonly addresses: readonly string[];
  readonly isHostNetwork: boolean;
}

/** `name`: `namespace/name`. */
export async function readPod(
  kubectl: Kubectl,
  name: string,
  timeoutMs: number,
): Promise<NamedPod> {
  const [namespace = '', pod = ''] = name.split('/');
  const raw = await getJson(kubectl, ['get', 'pod', '-n', namespace, pod], timeoutMs);
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
