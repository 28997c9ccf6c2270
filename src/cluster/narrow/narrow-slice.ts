import {
  arrayAt,
  booleanAt,
  integerAt,
  isRecord,
  type JsonRecord,
  recordAt,
  textAt,
  timeMsAt,
} from '../json.ts';
import type { SliceEndpoint, SliceObject, SlicePort } from '../objects.ts';
import { compact, type Interner } from './interner.ts';
import type { Named } from './meta.ts';
import { PORT_BOUNDS, textOfEach } from './parts.ts';

const SERVICE_LABEL = 'kubernetes.io/service-name';
const HEADLESS_LABEL = 'service.kubernetes.io/headless';
const TRIGGER_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

export function narrowSlice(named: Named, interner: Interner): SliceObject | undefined {
  const addressType = addressTypeOf(named.raw);
  if (addressType === undefined || named.namespace === '') return undefined;
  const triggeredAtMs = timeMsAt(recordAt(named.metadata, 'annotations'), TRIGGER_ANNOTATION);
  return {
    namespace: named.namespace,
    name: named.name,
    service: textAt(named.labels, SERVICE_LABEL),
    headless: typeof named.labels[HEADLESS_LABEL] === 'string',
    addressType,
    ports: readPorts(named.raw, interner),
    endpoints: readEndpoints(named.raw, interner),
    ...(triggeredAtMs === undefined ? {} : { triggeredAtMs }),
  };
}

function addressTypeOf(raw: JsonRecord): SliceObject['addressType'] | undefined {
  const { addressType } = raw;
  const known = addressType === 'IPv4' || addressType === 'IPv6' || addressType === 'FQDN';
  return known ? addressType : undefined;
}

function readPorts(raw: JsonRecord, interner: Interner): readonly SlicePort[] {
  const found: SlicePort[] = [];
  for (const port of arrayAt(raw, 'ports')) {
    if (!isRecord(port)) continue;
    const number = integerAt(port, 'port', PORT_BOUNDS);
    found.push({
      name: interner.text(textAt(port, 'name')),
      protocol: interner.text(textAt(port, 'protocol') || 'TCP'),
      ...(number === 0 ? {} : { port: number }),
    });
  }
  return interner.list(found);
}

function readEndpoints(raw: JsonRecord, interner: Interner): readonly SliceEndpoint[] {
  const found: SliceEndpoint[] = [];
  for (const endpoint of arrayAt(raw, 'endpoints')) {
    if (!isRecord(endpoint)) continue;
    const [address] = arrayAt(endpoint, 'addresses');
    if (typeof address !== 'string' || address === '') continue;
    found.push(readEndpoint(endpoint, address, interner));
  }
  return compact(found);
}

function readEndpoint(endpoint: JsonRecord, address: string, interner: Interner): SliceEndpoint {
  const conditions = recordAt(endpoint, 'conditions');
  const hints = recordAt(endpoint, 'hints');
  const nodeName = interner.text(textAt(endpoint, 'nodeName'));
  const zoneHints = interner.list(textOfEach(hints, 'forZones', 'name'));
  const nodeHints = interner.list(textOfEach(hints, 'forNodes', 'name'));
  const ready = booleanAt(conditions, 'ready') ?? true;
  // According to the API, an unset `serving` follows `ready`. kube-proxy treats it as true, which
  // decides which terminating endpoints serve.
  const serving = booleanAt(conditions, 'serving') ?? true;
  const terminating = booleanAt(conditions, 'terminating') ?? false;
  // Nearly all endpoints have this form: one object literal is faster and smaller.
  if (nodeName !== '' && zoneHints.length === 0 && nodeHints.length === 0) {
    return { address, ready, serving, terminating, nodeName };
  }
  return {
    address,
    ready,
    serving,
    terminating,
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zoneHints.length === 0 ? {} : { zoneHints }),
    ...(nodeHints.length === 0 ? {} : { nodeHints }),
  };
}
