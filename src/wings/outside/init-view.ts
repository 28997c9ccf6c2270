import { Document, isScalar, visit } from 'yaml';
import { countText } from '../../commands/status/status-texts.ts';
import { formatTextTable } from '../../commands/text-table.ts';
import { type DoneObject, objectText } from './apply-objects.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import type { InitOptions } from './init-options.ts';
import type { Plan } from './init-plan.ts';
import type { DoneFile } from './install-files.ts';
import type { Manifest } from './machine-rights.ts';
import { TOKEN_FILE } from './paths.ts';
import { spanText } from './token-dates.ts';

/** What was found and decided, as rows of two columns. */
export function factsTable(plan: Plan, facts: ClusterFacts, options: InitOptions): string {
  const { dns, nodeCount } = facts;
  const ofNodes = options.podCidr.length === 0 ? ` (from ${countText(nodeCount, 'Node')})` : '';
  const rows: readonly (readonly [string, string])[] = [
    ['API server', plan.server],
    ['account', `${plan.account.namespace}/${plan.account.name}`],
    ['serves', scopeText(plan, options)],
    ['mode', options.mode],
    ['Service ranges', plan.serviceRanges.join(', ') || 'not known'],
    [
      'pod ranges',
      plan.podRanges.length === 0 ? 'not known' : `${plan.podRanges.join(', ')}${ofNodes}`,
    ],
    [
      'DNS',
      dns === undefined ? 'none' : `${dns.addresses.join(', ')} (${dns.namespace}/${dns.name})`,
    ],
    ['token', tokenText(options)],
  ];
  return formatTextTable(rows);
}

/** A Service that was added is marked: the cluster's DNS. */
function scopeText({ scope }: Plan, options: InitOptions): string {
  if (scope === undefined) return 'all Services';
  const { namespaces, services, serviceSelector } = scope;
  const selected = serviceSelector === undefined ? '' : ` with ${serviceSelector}`;
  const all =
    namespaces.length > 0
      ? [`Services of ${namespaces.join(', ')}${selected}`]
      : selected === ''
        ? []
        : [`Services${selected}`];
  const named = services.map((service) =>
    options.services.includes(service) ? service : `${service} (for names)`,
  );
  return [...all, ...named].join('; ');
}

function tokenText({ tokenLifetime, renewal }: InitOptions): string {
  const life = spanText(tokenLifetime * 1000);
  return renewal ? `${life}, renewed after a fifth of that` : `${life}, then it ends`;
}

/** One document for each object, as `kubectl apply -f -` takes them. */
export function manifestsText(manifests: readonly Manifest[]): string {
  return manifests.map(manifestText).join('---\n');
}

/** Lists of words on one line. */
function manifestText(manifest: Manifest): string {
  const document = new Document(manifest, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, list) => {
      if (list.items.every(isScalar)) list.flow = true;
    },
  });
  return document.toString({ flowCollectionPadding: false, lineWidth: 0 });
}

const LONG_LINE = 400;
const SHORTENED = 60;

/**
 * A file below its heading, and nothing secret: a proxy's password is left out. On a terminal a
 * certificate is shortened.
 */
export function fileText(
  { path, text }: { readonly path: string; readonly text: string },
  isOnTerminal: boolean,
): string {
  const shown = text
    .replaceAll(/(https?:\/\/)[^\s/@]+@/g, '$1***@')
    .split('\n')
    .map((line) =>
      isOnTerminal && line.length > LONG_LINE ? `${line.slice(0, SHORTENED)}…` : line,
    )
    .join('\n');
  return `\n# ===== ${path}\n${shown.trimEnd()}`;
}

/** What was made, as a table. */
export function doneTable(objects: readonly DoneObject[], files: readonly DoneFile[]): string {
  return formatTextTable([
    ['MADE', 'NOW'],
    ...objects.map(({ object, done }) => [objectText(object), done]),
    ...files.map(({ path, done }) => [path === TOKEN_FILE ? `${path} (the token)` : path, done]),
  ]);
}

/** `5 created, 2 unchanged`. */
export function countsText(all: readonly { readonly done: string }[]): string {
  const counts = Map.groupBy(all, ({ done }) => done);
  return [...counts].map(([done, each]) => `${each.length} ${done}`).join(', ');
}
