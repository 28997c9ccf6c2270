import { addressText } from '../../../../src/linux/conntrack/address-bytes.ts';
import { KernelConntrack } from '../../../../src/linux/conntrack/conntrack.ts';
import {
  insertFlows,
  type NewFlow,
  newFlow,
} from '../../../../src/linux/conntrack/testing/insert.ts';
import type { FlowPlan } from './questions.ts';

const UDP = 17;
const PORT = 53;
const CLIENT_PORT = 4000;
const ELSEWHERE = '8.8.8.8';
const DEADLINE_MS = 60_000;

/** From 10.1.0.0 on: no host of a lab. */
export function clientOf(index: number): string {
  return `10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

/** Where the flow with this number goes: the address asked for, and the endpoint. */
export function targetOf(plan: FlowPlan, index: number): { address: string; endpoint: string } {
  const elsewhere = { address: ELSEWHERE, endpoint: ELSEWHERE };
  if (index % 2 === 1) return elsewhere;
  const turn = index / 2;
  const service = plan.services[turn % plan.services.length];
  if (service === undefined) return elsewhere;
  const { address, endpoints } = service;
  const endpoint = endpoints[Math.floor(turn / plan.services.length) % endpoints.length];
  return { address, endpoint: endpoint ?? ELSEWHERE };
}

export async function insertPlanned(plan: FlowPlan): Promise<number> {
  return await insertFlows(planned(plan));
}

function* planned(plan: FlowPlan): Generator<NewFlow> {
  for (let index = 0; index < plan.count; index++) {
    const { address, endpoint } = targetOf(plan, index);
    yield newFlow({
      protocol: UDP,
      client: [clientOf(index), CLIENT_PORT],
      destination: [address, PORT],
      answeredBy: [endpoint, PORT],
    });
  }
}

/** The numbers by which the kernel knows the planned flows that are still there, by client. */
export async function readPlanned(plan: FlowPlan): Promise<Record<string, number>> {
  const clients = new Set(Array.from({ length: plan.count }, (_, index) => clientOf(index)));
  const question = { protocols: new Set([UDP]), destinationPorts: new Set([PORT]) };
  const found: Record<string, number> = {};
  const late = AbortSignal.timeout(DEADLINE_MS);
  for await (const flows of new KernelConntrack().flows(question, late)) {
    for (const { original, id } of flows) {
      const client = addressText(original.source);
      if (clients.has(client)) found[client] = id;
    }
  }
  return found;
}
