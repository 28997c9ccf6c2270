/** Names, behind `kubeproxy_sync_proxy_rules_`, that kube-proxy has for failures in a mode. */
export interface FailureNames {
  readonly writes: string;
  /** For changes only, not for full syncs. */
  readonly partialWrites?: string;
  /** For inspections, which delete what belongs to no row. */
  readonly cleanups?: string;
}
