import {
  formatSelector,
  matchesSelector,
  parseSelector,
  type Requirement,
  type Selector,
} from '../labels/selector.ts';
import { type JsonRecord, recordAt, textAt } from './json.ts';
import type { Kind } from './object-kinds.ts';
import { type Resource, SERVICES, SLICES } from './resources.ts';

/** The Services to read: those of the namespaces that match the selector, and named ones. */
export interface Scope {
  /** Empty: all namespaces if there is a selector, else none. */
  readonly namespaces: readonly string[];
  /** As `namespace/name`. */
  readonly services: readonly string[];
  /** As for `kubectl -l`. */
  readonly serviceSelector?: string;
}

/** Objects of one kind that one list and watch covers. */
export interface ScopePart {
  readonly kind: 'service' | 'slice';
  /** Undefined: all namespaces. */
  readonly namespace?: string;
  /** Undefined: all names. */
  readonly name?: string;
  readonly selector: Selector;
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
/** It copies the labels of a Service to its slices, except for those that it sets itself. */
const CONTROLLER = ['endpointslice-controller.k8s.io'];
const SET_BY_CONTROLLER = [
  SERVICE_NAME_LABEL,
  MANAGED_BY_LABEL,
  'service.kubernetes.io/headless',
] as const satisfies readonly string[];

/** The lists and watches that a scope needs. */
export function partsOf(scope: Scope): readonly ScopePart[] {
  const selector = selectorOf(scope);
  const isWhole = (namespace: string): boolean =>
    selector.length === 0 && scope.namespaces.includes(namespace);
  const named = Map.groupBy(scope.services, (text) => text.split('/', 1)[0] ?? '');
  return [
    ...whole(scope).flatMap((where) => partsIn(where, selector)),
    ...[...named].flatMap(([namespace, texts]) => {
      const names = texts.map((text) => text.slice(namespace.length + 1));
      return isWhole(namespace) ? [] : partsNamed(namespace, names);
    }),
  ];
}

/** Whether objects without a namespace are outside of the scope: a Role cannot grant them. */
export function isWithinNamespaces({ namespaces, serviceSelector }: Scope): boolean {
  return namespaces.length > 0 || serviceSelector === undefined;
}

/** The namespaces that are read by the selector. */
function whole(scope: Scope): readonly Pick<ScopePart, 'namespace'>[] {
  if (!isWithinNamespaces(scope)) return [{}];
  return scope.namespaces.map((namespace) => ({ namespace }));
}

function partsIn(where: Pick<ScopePart, 'namespace'>, selector: Selector): readonly ScopePart[] {
  const services: ScopePart = { kind: 'service', ...where, selector };
  const copied = selector.filter(({ key }) => !SET_BY_CONTROLLER.some((each) => each === key));
  if (copied.length === 0) return [services, { kind: 'slice', ...where, selector: [] }];
  const managed = (operator: 'in' | 'notin'): Requirement => ({
    key: MANAGED_BY_LABEL,
    operator,
    values: CONTROLLER,
  });
  return [
    services,
    { kind: 'slice', ...where, selector: [managed('in'), ...copied] },
    // Slices of other controllers and of people need not have the labels of their Service.
    { kind: 'slice', ...where, selector: [managed('notin')] },
  ];
}

function partsNamed(namespace: string, names: readonly string[]): readonly ScopePart[] {
  return [
    // One by one: a Role with resourceNames allows to list and watch a single name only.
    ...names.map((name): ScopePart => ({ kind: 'service', namespace, name, selector: [] })),
    {
      kind: 'slice',
      namespace,
      selector: [{ key: SERVICE_NAME_LABEL, operator: 'in', values: names }],
    },
  ];
}

function selectorOf({ serviceSelector = '' }: Scope): Selector {
  const parsed = parseSelector(serviceSelector);
  if ('fault' in parsed) throw new TypeError(`label selector: ${parsed.fault}`);
  return parsed.selector;
}

/** The request for a part: kube-proxy's, narrowed. */
export function resourceOf(part: ScopePart): Resource<'service' | 'slice'> {
  const { kind, namespace, name, selector } = part;
  const all: Resource<'service' | 'slice'> = kind === 'service' ? SERVICES : SLICES;
  const labels = [all.labelSelector, formatSelector(selector)].filter(Boolean);
  const fields = [name === undefined ? undefined : `metadata.name=${name}`, all.fieldSelector];
  const fieldSelector = fields.filter(Boolean).join(',');
  return {
    kind,
    path: namespace === undefined ? all.path : inNamespace(all.path, namespace),
    labelSelector: labels.join(','),
    ...(fieldSelector === '' ? {} : { fieldSelector }),
    part: whatOf(part),
  };
}

function inNamespace(path: string, namespace: string): string {
  const slash = path.lastIndexOf('/');
  return `${path.slice(0, slash)}/namespaces/${namespace}${path.slice(slash)}`;
}

function whatOf({ namespace, name }: ScopePart): string {
  if (namespace === undefined) return 'all namespaces';
  return name === undefined ? `namespace ${namespace}` : `Service ${namespace}/${name}`;
}

/** Whether an object would be received; objects of other kinds are. */
export function scopeFilter(scope: Scope): (kind: Kind, raw: JsonRecord) => boolean {
  const parts = partsOf(scope);
  return (kind, raw) => {
    if (kind === 'namespace') return !isWithinNamespaces(scope);
    if (kind !== 'service' && kind !== 'slice') return true;
    const metadata = recordAt(raw, 'metadata');
    return parts.some((part) => part.kind === kind && isIn(part, metadata));
  };
}

function isIn({ namespace, name, selector }: ScopePart, metadata: JsonRecord): boolean {
  if (namespace !== undefined && namespace !== textAt(metadata, 'namespace')) return false;
  if (name !== undefined && name !== textAt(metadata, 'name')) return false;
  return matchesSelector(selector, recordAt(metadata, 'labels'));
}
