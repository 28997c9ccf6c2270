import { askEtcd, base64, EtcdAgent } from '../../lab/control-plane/etcd-gateway.ts';
import type { Destination } from '../../lab/host/sockets.ts';
import type { Lab } from '../../lab/lab.ts';
import { writeToEtcd } from '../../lab/load/etcd-writer.ts';
import type { StoredObject } from '../../lab/load/objects.ts';
import { CLUSTER_IPS, readyEndpoint, SERVE_PORT, SERVICE_PORT, sliceLabels } from './names.ts';

export const BULK_SERVICES = 1_000;
const NAMESPACE = 'zz-bulk';
const CREATED_AT = '2026-01-01T00:00:00Z';

/**
 * A thousand Services that come at once. They are written into etcd, one object to a transaction,
 * and reach the proxies by the API server's watch; through its REST interface the writing alone
 * takes longer than everything that is measured.
 */
export class BulkServices {
  readonly #fabricPath: string;
  readonly #answeringAddress: string;

  constructor(lab: Lab, answeringAddress: string) {
    this.#fabricPath = lab.namespacePath('fabric');
    this.#answeringAddress = answeringAddress;
  }

  /** The one that is written last; it answers. */
  get last(): Destination {
    return { address: CLUSTER_IPS.bulk(BULK_SERVICES - 1), port: SERVICE_PORT };
  }

  /** Gives how many objects were written. */
  async create(): Promise<number> {
    return await writeToEtcd({
      namespacePath: this.#fabricPath,
      objects: objects(this.#answeringAddress),
      objectsPerTransaction: 1,
      onProgress: () => undefined,
    });
  }

  async remove(): Promise<void> {
    const agent = new EtcdAgent(this.#fabricPath);
    try {
      for (const prefix of [
        `/registry/services/specs/${NAMESPACE}/`,
        `/registry/endpointslices/${NAMESPACE}/`,
      ]) {
        const end = `${prefix.slice(0, -1)}0`;
        const range = { key: base64(prefix), range_end: base64(end) };
        await askEtcd(agent, '/v3/kv/deleterange', range);
      }
    } finally {
      agent.destroy();
    }
  }
}

function* objects(answeringAddress: string): Generator<StoredObject> {
  for (let index = 0; index < BULK_SERVICES; index++) {
    const name = `bulk-${String(index).padStart(3, '0')}`;
    const isLast = index === BULK_SERVICES - 1;
    const address = isLast ? answeringAddress : `10.239.${index >> 8}.${index & 0xff}`;
    yield {
      key: `/registry/endpointslices/${NAMESPACE}/${name}`,
      value: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { ...metadata(name, index), labels: sliceLabels(name) },
        addressType: 'IPv4',
        endpoints: [readyEndpoint(address, isLast ? 'node1' : 'elsewhere-a')],
        ports: [{ name: 'http', protocol: 'TCP', port: SERVE_PORT }],
      },
    };
    yield {
      key: `/registry/services/specs/${NAMESPACE}/${name}`,
      value: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: metadata(name, index),
        spec: {
          type: 'ClusterIP',
          clusterIP: CLUSTER_IPS.bulk(index),
          clusterIPs: [CLUSTER_IPS.bulk(index)],
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          internalTrafficPolicy: 'Cluster',
          sessionAffinity: 'None',
          ports: [{ name: 'http', protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }],
        },
        status: { loadBalancer: {} },
      },
    };
  }
}

function metadata(name: string, index: number): object {
  const uid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  return { name, namespace: NAMESPACE, uid, creationTimestamp: CREATED_AT };
}
