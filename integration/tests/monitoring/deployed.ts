import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
export const RULES = join(ROOT, 'deploy/monitoring/rules.yaml');

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** What a person deploys, read as Prometheus reads it. */
export function deployedRules(): readonly Rule[] {
  return (parse(readFileSync(RULES, 'utf8')) as RuleFile).groups.flatMap(({ rules }) => rules);
}

export interface PanelQuery {
  readonly title: string;
  readonly expression: string;
}

/** Every query of the dashboard, as Grafana sends it for all nodes and five minutes. */
export function dashboardQueries(): PanelQuery[] {
  const { panels } = JSON.parse(text('deploy/monitoring/dashboard.json')) as {
    panels: readonly { title: string; targets?: readonly { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expression: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    })),
  );
}

export function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
