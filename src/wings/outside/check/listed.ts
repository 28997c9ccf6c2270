import { canonicalIp } from '../../../addresses/ip.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';

export interface ListedService {
  /** `namespace/name`. */
  readonly key: string;
  readonly clusterIPs: readonly string[];
  readonly tcpPorts: readonly number[];
}

/** A ready endpoint. */
export interface ListedEndpoint {
  /** `namespace/name` of its Service. */
  readonly service: string;
  readonly address: string;
  /** Undefined: it has none for TCP. */
  readonly tcpPort: number | undefined;
  /** Empty: not known. */
  readonly node: string;
}

export function readService(raw: JsonRecord): ListedService[] {
  const metadata = recordAt(raw, 'metadata');
  const spec = recordAt(raw, 'spec');
  const key = `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;
  const clusterIPs = arrayAt(spec, 'clusterIPs').filter((ip) => typeof ip === 'string');
  return [
    { key, clusterIPs: clusterIPs.flatMap((ip) => canonicalIp(ip) ?? []), tcpPorts: tcp(spec) },
  ];
}

export function readEndpoints(raw: JsonRecord): ListedEndpoint[] {
  const metadata = recordAt(raw, 'metadata');
  const name = textAt(recordAt(metadata, 'labels'), 'kubernetes.io/service-name');
  const service = `${textAt(metadata, 'namespace')}/${name}`;
  const [tcpPort] = tcp(raw);
  return arrayAt(raw, 'endpoints')
    .filter(isRecord)
    .filter((endpoint) => recordAt(endpoint, 'conditions')['ready'] !== false)
    .flatMap((endpoint) => {
      const [first] = arrayAt(endpoint, 'addresses');
      const address = typeof first === 'string' ? canonicalIp(first) : undefined;
      const node = textAt(endpoint, 'nodeName');
      return address === undefined ? [] : [{ service, address, tcpPort, node }];
    });
}

/** Ports for TCP, which is the default. */
function tcp(parent: JsonRecord): number[] {
  return arrayAt(parent, 'ports')
    .filter(isRecord)
    .filter((port) => ['', 'TCP'].includes(textAt(port, 'protocol')))
    .flatMap(({ port }) => (typeof port === 'number' ? [port] : []));
}
