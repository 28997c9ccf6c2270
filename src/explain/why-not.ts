import type { EndpointShare } from '../forwarding/answer/endpoint-shares.ts';
import type { Code } from './codes.ts';
import type { Remark } from './explanation.ts';
import { reasonRemarks, type ZeroReason } from './zero/zero-reason.ts';

/** An endpoint that was asked for. */
export interface AskedEndpoint {
  /** As it was given. */
  readonly name: string;
  /** Canonical; several for a pod with both families. */
  readonly addresses: readonly string[];
  /** What its Pod object says of its readiness; undefined: not read. */
  readonly podSays?: string;
  /** Why no EndpointSlice has it; undefined: one has. */
  readonly absence?: ZeroReason;
}

export interface WhyNot {
  readonly code: Extract<Code, 'WOULD_REACH' | 'NOT_SELECTED'>;
  readonly sentence: string;
  readonly remarks: readonly Remark[];
  readonly next: readonly string[];
}

/** Why an endpoint gets connections, or none. `service`: `namespace/name:port`. */
export function whyNot(
  asked: AskedEndpoint,
  shares: readonly EndpointShare[],
  { service, subject }: { readonly service: string; readonly subject: string },
): WhyNot {
  const own = shares.filter(({ endpoint }) => {
    return asked.addresses.some((address) => isAt(endpoint, address));
  });
  const [first] = own;
  const podSays = asked.podSays === undefined ? [] : [{ topic: 'the pod', text: asked.podSays }];
  const [namespace, pod] = asked.name.split('/');
  const next = pod === undefined ? [] : [`kubectl -n ${namespace} describe pod ${pod}`];
  if (first === undefined) {
    const sentence = `${nameOf(asked)} is no endpoint of ${service}`;
    const { absence } = asked;
    const because = absence === undefined ? [] : reasonRemarks(absence);
    const remarks = [...because, ...podSays];
    return { code: 'NOT_SELECTED', sentence, remarks, next: absence?.next ?? next };
  }
  const chosen = own.find(({ selected }) => selected);
  if (chosen !== undefined) {
    const sentence = shareSentence(nameOf(asked), chosen, `${service} from ${subject}`);
    return { code: 'WOULD_REACH', sentence, remarks: podSays, next: [] };
  }
  const text = first.because === first.state ? first.state : `${first.because} (${first.state})`;
  const sentence = `${nameOf(asked)} gets no connection of ${service} from ${subject}: ${text}`;
  const node = first.nodeName === '' ? [] : [{ topic: 'its node', text: first.nodeName }];
  return {
    code: 'NOT_SELECTED',
    sentence,
    remarks: [{ topic: 'because', text }, ...node, ...podSays],
    next: first.state === 'ready' ? [] : next,
  };
}

function shareSentence(
  name: string,
  { oneOf = 1, chosenIf }: EndpointShare,
  origin: string,
): string {
  if (chosenIf !== undefined) return `${name} gets new connections of ${origin}, ${chosenIf}`;
  return `${name} gets 1 of ${oneOf.toLocaleString('en-US')} new connections of ${origin}`;
}

function isAt(endpoint: string, address: string): boolean {
  const prefix = address.includes(':') ? `[${address}]:` : `${address}:`;
  return endpoint.startsWith(prefix);
}

function nameOf({ name, addresses }: AskedEndpoint): string {
  return addresses.includes(name) ? name : `pod ${name} (${addresses.join(', ')})`;
}
