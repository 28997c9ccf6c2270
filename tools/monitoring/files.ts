import { ALERTS } from './alerts.ts';
import { dashboardOf } from './dashboard.ts';
import { ROWS } from './panels.ts';
import { prometheusRule, ruleFile } from './rules.ts';
import { type Value, yamlOf } from './yaml.ts';

const HEAD = '# Made by `npm run monitoring` from tools/monitoring/alerts.ts.\n';

/** The files that the command writes, by name below deploy/monitoring. */
export function monitoringFiles(): ReadonlyMap<string, string> {
  const yaml = (value: Value): string => HEAD + yamlOf(value);
  return new Map([
    ['rules.yaml', yaml(ruleFile(ALERTS))],
    ['prometheus-rule.yaml', yaml(prometheusRule(ALERTS))],
    ['dashboard.json', `${JSON.stringify(dashboardOf(ROWS), undefined, 2)}\n`],
  ]);
}
