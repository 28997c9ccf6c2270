/** A manifest of so many Services, each with a cluster IP of its own. */
export function manyServices(count: number): string {
  const items = Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'ns', name: `s${index}` },
    spec: {
      clusterIPs: [`10.96.${index >> 8}.${index & 255}`],
      ipFamilies: ['IPv4'],
      ports: [{ port: 80 }],
    },
  }));
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}
