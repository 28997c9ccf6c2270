import type { ScopeSettings } from '../../config/settings.ts';
import type { RecordedObject } from './record.ts';

/** An object for the cluster, in the form that `kubectl apply` takes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface RightsOptions {
  /** The name of the ServiceAccount and of every other object. */
  readonly name: string;
  /** The namespace of the ServiceAccount. */
  readonly namespace: string;
  /** Undefined: all Services. */
  readonly scope: ScopeSettings | undefined;
  /** Whether it may request a new token for itself. */
  readonly canRenew: boolean;
  /** Whether labels of namespaces matter in the mode. */
  readonly readsNamespaces: boolean;
}

/** On every object that `fairlead outside` makes, and on no other. */
export const OUTSIDE_LABELS: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'fairlead',
  'app.kubernetes.io/component': 'outside',
};

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const RBAC = `${RBAC_GROUP}/v1`;
const READ = ['list', 'watch'];
export const ALL_SERVICES: Rule = { apiGroups: [''], resources: ['services'], verbs: READ };
export const SLICES: Rule = {
  apiGroups: ['discovery.k8s.io'],
  resources: ['endpointslices'],
  verbs: READ,
};
export const SERVICE_CIDRS: Rule = {
  apiGroups: ['networking.k8s.io'],
  resources: ['servicecidrs'],
  verbs: READ,
};
const NAMESPACES: Rule = { apiGroups: [''], resources: ['namespaces'], verbs: READ };

/** Whether the scope reaches into every namespace, so that only a ClusterRole can grant it. */
function isWholeCluster(scope: ScopeSettings | undefined): boolean {
  return (
    scope === undefined || (scope.namespaces.length === 0 && scope.serviceSelector !== undefined)
  );
}

/** A ServiceAccount with the least rights for the scope: it reads, and renews its own token. */
export function rightsFor(options: RightsOptions): readonly Manifest[] {
  const account: Manifest = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadata(options, options.namespace),
    // No pod runs as this account.
    automountServiceAccountToken: false,
  };
  const clusterRules = rulesOfCluster(options);
  const cluster =
    clusterRules.length === 0
      ? []
      : roleAndBinding(options, { namespace: undefined, rules: clusterRules });
  const namespaced = [...rulesByNamespace(options)].flatMap(([namespace, rules]) =>
    roleAndBinding(options, { namespace, rules }),
  );
  return [account, ...cluster, ...namespaced];
}

/** The identity of an object, for the record. */
export function identityOf({ apiVersion, kind, metadata }: Manifest): RecordedObject {
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

const PLURALS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};

/** Path of an object; undefined: not a kind that Fairlead makes. */
export function pathOf({ apiVersion, kind, namespace, name }: RecordedObject): string | undefined {
  const plural = Object.hasOwn(PLURALS, kind) ? PLURALS[kind] : undefined;
  if (plural === undefined) return undefined;
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const where = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${base}${where}/${plural}/${encodeURIComponent(name)}`;
}

function metadata({ name }: RightsOptions, namespace: string | undefined): Manifest['metadata'] {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: OUTSIDE_LABELS,
  };
}

function rulesOfCluster({ scope, readsNamespaces }: RightsOptions): readonly Rule[] {
  if (!isWholeCluster(scope)) return [];
  return [ALL_SERVICES, SLICES, SERVICE_CIDRS, ...(readsNamespaces ? [NAMESPACES] : [])];
}

function rulesByNamespace(options: RightsOptions): ReadonlyMap<string, readonly Rule[]> {
  const { scope, namespace, name, canRenew } = options;
  const rules = new Map<string, readonly Rule[]>();
  const add = (to: string, ...more: readonly Rule[]): void => {
    rules.set(to, [...(rules.get(to) ?? []), ...more]);
  };
  if (scope !== undefined && !isWholeCluster(scope)) {
    for (const each of scope.namespaces) add(each, ALL_SERVICES, SLICES);
    for (const [each, names] of namedServices(scope)) {
      if (scope.namespaces.includes(each)) continue;
      // A list or watch with the field selector metadata.name is authorised as one of that name.
      add(each, { ...ALL_SERVICES, resourceNames: names }, SLICES);
    }
  }
  if (canRenew) {
    add(namespace, {
      apiGroups: [''],
      resources: ['serviceaccounts/token'],
      resourceNames: [name],
      verbs: ['create'],
    });
  }
  return rules;
}

function namedServices({ services }: ScopeSettings): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const service of services) {
    const [namespace = '', name = ''] = service.split('/');
    names.set(namespace, [...(names.get(namespace) ?? []), name]);
  }
  return names;
}

function roleAndBinding(
  options: RightsOptions,
  role: { readonly namespace: string | undefined; readonly rules: readonly Rule[] },
): readonly Manifest[] {
  const kind = role.namespace === undefined ? 'ClusterRole' : 'Role';
  const { name, namespace } = options;
  return [
    { apiVersion: RBAC, kind, metadata: metadata(options, role.namespace), rules: role.rules },
    {
      apiVersion: RBAC,
      kind: `${kind}Binding`,
      metadata: metadata(options, role.namespace),
      roleRef: { apiGroup: RBAC_GROUP, kind, name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}
