import type { Alert } from './alert.ts';
import type { Value } from './yaml.ts';

/** Where docs/ is published. Change it for a copy of your own, and run `npm run monitoring`. */
const DOCS = 'https://fairlead.dev/docs';

/** A rule file of Prometheus. */
export function ruleFile(alerts: readonly Alert[]): { readonly groups: Value } {
  return { groups: [{ name: 'fairlead', rules: alerts.map(ruleOf) }] };
}

/** The same for Prometheus Operator. */
export function prometheusRule(alerts: readonly Alert[]): Value {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'fairlead', labels: { 'app.kubernetes.io/name': 'fairlead' } },
    spec: ruleFile(alerts),
  };
}

function ruleOf(alert: Alert): Value {
  return {
    alert: alert.name,
    expr: alert.expression,
    ...(alert.for === undefined ? {} : { for: alert.for }),
    labels: { severity: alert.severity },
    annotations: {
      summary: alert.summary,
      description: alert.description,
      runbook_url: `${DOCS}/runbooks.md#${alert.name.toLowerCase()}`,
    },
  };
}
