/** What a proxy makes of a cluster, in the words that both sides are compared in. */
export interface Answer {
  readonly ports: readonly PortAnswer[];
  /** `namespace/name/port/family` of a health port to the local endpoints it reports. */
  readonly health: Readonly<Record<string, number>>;
}

export interface PortAnswer {
  readonly key: string;
  readonly clusterIP: string;
  readonly port: number;
  readonly nodePort: number;
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  readonly sourceRanges: readonly string[];
  readonly internalLocal: boolean;
  readonly externalLocal: boolean;
  readonly affinitySeconds: number;
  readonly cluster: readonly string[];
  readonly local: readonly string[];
  readonly anywhere: boolean;
  readonly verdicts: Verdicts;
}

/** The outcome of a connection, by the kind of its destination and by its source class. */
export type Verdicts = Readonly<
  Record<string, Readonly<Record<'pod' | 'host' | 'outside', string>>>
>;
