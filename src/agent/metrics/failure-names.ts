/** Names, behind `kubeproxy_sync_proxy_rules_`, that kube-proxy has for failures in a mode. */
export interface FailureNames {
  readonly writes: string;
  /** Of changes only, rather than of everything. */
  readonly partialWrites?: string;
  /** Of inspections, which delete what belongs to no row. */
  readonly cleanups?: string;
}
