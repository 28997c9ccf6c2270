import type { KernelFrontend } from '../../../../dataplanes/contract.ts';
import { endpointKey } from '../../../../forwarding/endpoints.ts';
import type { Protocol } from '../../../../forwarding/model.ts';
import {
  CLASS_ORDER,
  FRONTEND,
  FRONTEND_KEY,
  OUTCOME_BYTES,
  OutcomeFlag,
  type OutcomeWord,
  PROTOCOL_NUMBER,
  readAddress,
  readOutcome,
  SLOT,
} from './layout.ts';

const ANYWHERE: readonly string[] = ['0.0.0.0', '::'];

/** `ebpf frontends { 10.96.0.10 tcp 80 }`, `{ node-port IPv4 tcp 30080 }`. */
export function frontendText(key: Buffer): string {
  const { address, protocol, port } = frontendOfKey(key);
  const family = readAddress(key, FRONTEND_KEY.address) === '::' ? 'IPv6' : 'IPv4';
  const where = address ?? `node-port ${family}`;
  return `ebpf frontends { ${where} ${protocol.toLowerCase()} ${port} }`;
}

export function frontendOfKey(key: Buffer): KernelFrontend {
  const address = readAddress(key, FRONTEND_KEY.address);
  const number = key[FRONTEND_KEY.protocol];
  const protocols = Object.entries(PROTOCOL_NUMBER) as [Protocol, number][];
  return {
    protocol: protocols.find(([, each]) => each === number)?.[0] ?? 'TCP',
    ...(ANYWHERE.includes(address) ? {} : { address }),
    port: key.readUInt16BE(FRONTEND_KEY.port),
  };
}

export function wordsOf(value: Buffer): OutcomeWord[] {
  return CLASS_ORDER.map((_, index) =>
    readOutcome(value, FRONTEND.outcomes + index * OUTCOME_BYTES),
  );
}

/** `pod: 2 from slot 16; host: 2 from slot 16, masquerade; outside: drop; sticky 60 s`. */
export function frontendValueText(value: Buffer): string {
  const outcomes = wordsOf(value).map((word, index) => `${CLASS_ORDER[index]}: ${wordText(word)}`);
  const seconds = value.readUInt32LE(FRONTEND.affinitySeconds);
  return [...outcomes, ...(seconds === 0 ? [] : [`sticky ${seconds} s`])].join('; ');
}

function wordText({ first, count, flags }: OutcomeWord): string {
  const names = Object.entries(OutcomeFlag).filter(([, bit]) => (flags & bit) !== 0);
  const slots = count === 0 ? [] : [`${count} from slot ${first}`];
  return [...slots, ...names.map(([name]) => name)].join(', ') || 'nothing';
}

/** The endpoint in a slot; undefined: there is no such slot. */
export function slotText(slots: Buffer, index: number): string | undefined {
  const at = index * SLOT.bytes;
  if (at < 0 || at + SLOT.bytes > slots.length) return undefined;
  const address = readAddress(slots, at + SLOT.address);
  return endpointKey({ address, port: slots.readUInt16BE(at + SLOT.port) });
}
