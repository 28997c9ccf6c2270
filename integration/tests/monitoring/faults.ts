import type { MetricFamily } from '../../compare/metrics/families.ts';
import type { Rule } from './deployed.ts';
import { askedMetrics } from './promql-names.ts';

/** Written by Prometheus for each target. */
const OF_PROMETHEUS = new Set(['up']);
const PARTS_OF_HISTOGRAM = /_(?:bucket|sum|count)$/;

/** Alerts without a section, and sections without an alert. */
export function runbookFaults(rules: readonly Rule[], runbooks: string): string[] {
  const sections = new Set(
    [...runbooks.matchAll(/^## (Fairlead\w+)$/gm)].map(([, name]) => name ?? ''),
  );
  const alerts = new Set(rules.map(({ alert }) => alert));
  // Of all links the same page, which a browser can open.
  const page = rules[0]?.annotations['runbook_url']?.split('#')[0] ?? '';
  return [
    ...[...alerts.difference(sections)].map((name) => `${name} has no runbook`),
    ...[...sections.difference(alerts)].map((name) => `${name} has a runbook and no alert`),
    ...rules
      .filter(({ alert, annotations }) => {
        return annotations['runbook_url'] !== `${page}#${alert.toLowerCase()}`;
      })
      .map(({ alert }) => `${alert} links to another runbook`),
    ...(/^https:\/\/[^/]+\/.*\/runbooks\.md$/.test(page) ? [] : [`${page} is no absolute link`]),
  ];
}

/** Metrics and labels of an expression that a scrape does not have. */
export function nameFaults(
  expression: string,
  families: ReadonlyMap<string, MetricFamily>,
): string[] {
  return askedMetrics(expression).flatMap(({ name, labels }) => {
    if (OF_PROMETHEUS.has(name)) return [];
    const family = families.get(name) ?? families.get(name.replace(PARTS_OF_HISTOGRAM, ''));
    if (family === undefined) return [`no metric ${name}`];
    const has = new Set([...family.labels, ...(family.buckets.length > 0 ? ['le'] : [])]);
    return labels
      .filter((label) => !has.has(label))
      .map((label) => `${name} has no label ${label}`);
  });
}
