/** What kube-proxy shows and Fairlead does not, with the reason. A pattern matches whole names. */
export const LEFT_OUT: readonly { readonly names: RegExp; readonly why: string }[] = [
  { names: /^go_.*$/, why: 'Go runtime; Fairlead runs on Node: see nodejs_*' },
  {
    names: /^(?:apiserver|aggregator)_.*$/,
    why: 'metrics of API servers; kube-proxy links the library, and they stay 0',
  },
  {
    names: /^(?:registered|hidden|disabled)_metrics_total$/,
    why: "counts the metrics of Kubernetes' own library",
  },
  {
    names: /^cardinality_enforcement_.*$/,
    why: "a setting of Kubernetes' own library that Fairlead does not use",
  },
  {
    names: /^rest_client_rate_limiter_duration_seconds$/,
    why: 'Fairlead does not limit its requests: it keeps one connection and watches',
  },
  {
    names: /^rest_client_transport_.*$/,
    why: "client-go's connection cache; Fairlead has one connection",
  },
  {
    names: /^rest_client_exec_plugin_.*$/,
    why: 'exec credential plugins are for people, not for nodes; kube-proxy shows them empty',
  },
];
