import type { SourceHealth } from '../cluster/source.ts';
import type { ScopeSettings } from '../config/settings.ts';
import type { ForwardingTable } from '../forwarding/table.ts';

/** The configured scope, and where nothing was found. */
export interface ScopeReport extends ScopeSettings {
  /**
   * Readable parts without any Service, such as `namespace shop`: misspelt, or not created yet. The
   * API server returns an empty list for a namespace that does not exist.
   */
  readonly empty: readonly string[];
}

/** Costs as much as the scope has Services. */
export function scopeReport(
  scope: ScopeSettings,
  watched: {
    readonly table: Pick<ForwardingTable, 'serviceNames'>;
    readonly sources: readonly SourceHealth[];
  },
): ScopeReport {
  const found = new Set<string>();
  for (const name of watched.table.serviceNames()) {
    found.add(`Service ${name}`);
    found.add(`namespace ${name.slice(0, name.indexOf('/'))}`);
  }
  const forbidden = new Set(watched.sources.flatMap((source) => source.forbidden ?? []));
  const parts = [
    ...scope.namespaces.map((name) => `namespace ${name}`),
    ...scope.services.map((name) => `Service ${name}`),
  ];
  return { ...scope, empty: parts.filter((part) => !found.has(part) && !forbidden.has(part)) };
}

/** `namespaces shop, billing; tier=front; Service kube-system/kube-dns`. */
export function scopeText({ namespaces, services, serviceSelector }: ScopeSettings): string {
  const list = (noun: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${noun}${names.length === 1 ? '' : 's'} ${names.join(', ')}`];
  return [
    ...list('namespace', namespaces),
    ...(serviceSelector === undefined ? [] : [serviceSelector]),
    ...list('Service', services),
  ].join('; ');
}
