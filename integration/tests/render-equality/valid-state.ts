import type { ClusterState } from '../../compare/oracle/states.ts';

interface Port {
  readonly protocol: string;
  readonly port: number;
  readonly nodePort: number;
}

/**
 * Whether the API server would accept the Services. It rejects one with two ports of the same number,
 * or the same node port, and protocol; the oracle's clusters have such, because upstream's code can
 * be asked about them, but a kernel has only one place for the two.
 */
export function isValid({ services }: ClusterState): boolean {
  return services.every((service) => {
    const { ports } = (service as { spec: { ports: readonly Port[] } }).spec;
    const claims = ports.flatMap(({ protocol, port, nodePort }) => [
      `${protocol} ${port}`,
      ...(nodePort === 0 ? [] : [`node ${protocol} ${nodePort}`]),
    ]);
    return new Set(claims).size === claims.length;
  });
}
