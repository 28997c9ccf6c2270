import { InvalidArgumentError } from 'commander';
import { isDnsLabel, isDnsSubdomain } from '../../labels/api-names.ts';
import {
  ALL_SERVICES,
  type Manifest,
  OUTSIDE_LABELS,
  RBAC,
  RBAC_GROUP,
  type Rule,
  SERVICE_CIDRS,
  SLICES,
} from './machine-rights.ts';

/** Who gets the rights, as a binding names it. */
export type Subject =
  | { readonly kind: 'User' | 'Group'; readonly name: string; readonly apiGroup: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

const NAME = 'fairlead-shell';
/** `get` is what a WebSocket asks for; API servers from 1.35 on check `create` as well. */
const PORT_FORWARD: Rule = {
  apiGroups: [''],
  resources: ['pods/portforward'],
  verbs: ['get', 'create'],
};

/** `user:NAME`, `group:NAME` or `serviceaccount:NAMESPACE/NAME`. */
export function parseSubject(text: string): Subject {
  const at = text.indexOf(':');
  const kind = text.slice(0, at);
  const name = text.slice(at + 1);
  if (kind === 'user' && name !== '') return { kind: 'User', name, apiGroup: RBAC_GROUP };
  if (kind === 'group' && name !== '') return { kind: 'Group', name, apiGroup: RBAC_GROUP };
  const [namespace = '', account = '', ...more] = name.split('/');
  const isAccount = isDnsLabel(namespace) && isDnsSubdomain(account) && more.length === 0;
  if (kind === 'serviceaccount' && isAccount) {
    return { kind: 'ServiceAccount', name: account, namespace };
  }
  throw new InvalidArgumentError(
    'Use user:NAME, group:NAME or serviceaccount:NAMESPACE/NAME, as RBAC knows it.',
  );
}

/** The least rights for `fairlead shell`: in each of the namespaces, or in all. */
export function laptopRights(subject: Subject, namespaces: readonly string[]): readonly Manifest[] {
  const rules = [ALL_SERVICES, SLICES, PORT_FORWARD];
  if (namespaces.length === 0)
    return granted('ClusterRole', { subject, rules: [...rules, SERVICE_CIDRS] });
  return namespaces.flatMap((namespace) => granted('Role', { subject, rules, namespace }));
}

function granted(
  kind: 'Role' | 'ClusterRole',
  grant: {
    readonly subject: Subject;
    readonly rules: readonly Rule[];
    readonly namespace?: string;
  },
): readonly Manifest[] {
  const { subject, rules, namespace } = grant;
  const place = namespace === undefined ? {} : { namespace };
  const called = (name: string): Manifest['metadata'] => ({
    name,
    ...place,
    labels: OUTSIDE_LABELS,
  });
  const roleRef = { apiGroup: RBAC_GROUP, kind, name: NAME };
  const binding = { apiVersion: RBAC, kind: `${kind}Binding`, roleRef, subjects: [subject] };
  return [
    { apiVersion: RBAC, kind, metadata: called(NAME), rules },
    { ...binding, metadata: called(bindingName(subject)) },
  ];
}

/** One for each subject, so that the second does not replace the first. */
function bindingName(subject: Subject): string {
  const owner = subject.kind === 'ServiceAccount' ? `${subject.namespace}:` : '';
  // A name of RBAC may have any character but these.
  return `${NAME}:${subject.kind.toLowerCase()}:${owner}${subject.name}`.replaceAll(/[/%]/g, '-');
}
