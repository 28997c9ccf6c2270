import { booleanAt, recordAt, textAt } from '../../cluster/json.ts';
import { getJson, type Kubectl } from './kubectl.ts';

/**
 * Creates what is given by standard input. The server validates it: kubectl itself would list the
 * CustomResourceDefinitions first, which not everybody may.
 */
export const CREATE = ['create', '--validate=false', '-f', '-'] as const;

/** A right, in the words of RBAC. */
export interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Empty: core. */
  readonly group?: string;
  /** Empty: of the whole cluster. */
  readonly namespace: string;
}

/** `create pods/exec in kube-system`. */
export function rightText({ verb, resource, subresource, namespace }: Right): string {
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${what}${namespace === '' ? '' : ` in ${namespace}`}`;
}

export interface RightsQuestion {
  readonly rights: readonly Right[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Those that this person does not have, by the API server's own word (SelfSubjectAccessReview). */
export async function missingRights(
  kubectl: Kubectl,
  { rights, timeoutMs, signal }: RightsQuestion,
): Promise<readonly Right[]> {
  const of = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
  const allowed = await Promise.all(
    rights.map(async (right) => {
      const input = JSON.stringify(review(right));
      const answer = await getJson(kubectl, CREATE, { ...of, input });
      return booleanAt(recordAt(answer, 'status'), 'allowed') === true;
    }),
  );
  return rights.filter((_, index) => !allowed[index]);
}

function review({ verb, resource, subresource, group = '', namespace }: Right): object {
  const resourceAttributes = {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === '' ? {} : { namespace }),
  };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
}

/** The Pod Security Standard that a namespace enforces; undefined: none by a label of its own. */
export async function enforcedStandard(
  kubectl: Kubectl,
  namespace: string,
  timeoutMs: number,
): Promise<string | undefined> {
  const found = await getJson(kubectl, ['get', 'namespace', namespace], { timeoutMs });
  const labels = recordAt(recordAt(found, 'metadata'), 'labels');
  const standard = textAt(labels, 'pod-security.kubernetes.io/enforce');
  return standard === '' || standard === 'privileged' ? undefined : standard;
}
