import type { Difference } from '../../../dataplanes/contract.ts';
import { type ServicePortId, servicePortName } from '../../../forwarding/model.ts';
import type { VirtualServer } from '../../../linux/ipvs/model.ts';
import type { CapturedFrontend } from './capture/frontend.ts';
import type { ServerPlan } from './plan.ts';
import { destinationId, type ServerState } from './server-state.ts';
import type { WantedServer } from './wanted.ts';

/** So many destinations of a virtual server are described. */
const MOST_LINES = 20;

interface Differing {
  readonly id: ServicePortId;
  readonly wanted: WantedServer;
  readonly before: ServerState;
}

export function describeServer({ id, wanted, before }: Differing): Difference {
  const object = `ipvs virtual server ${wanted.id}`;
  const service = servicePortName(id);
  if (before.server === undefined) return { kind: 'missing', object, service };
  const weights = new Map(
    wanted.endpoints.map((endpoint) => [destinationId(endpoint), wanted.weight]),
  );
  const drops = [...before.others].filter(([each, weight]) => weight !== 0 || weights.has(each));
  return {
    kind: 'different',
    object,
    service,
    wanted: linesOf(wanted.server, weights, { captured: wanted.captured, isListed: true }),
    found: linesOf(before.server, new Map(drops), before),
  };
}

export function describeForeign({ id, stops, pass }: ServerPlan): Difference {
  const what = pass || stops.length > 0 ? 'virtual server' : 'mark of a virtual server';
  return { kind: 'foreign', object: `ipvs ${what} ${id}` };
}

export function describeHairpin(kind: 'missing' | 'foreign', address: string): Difference {
  return { kind, object: `ipvs hairpin address ${address}` };
}

function linesOf(
  { scheduler, schedulerFlags, persistenceSeconds }: VirtualServer,
  weights: ReadonlyMap<string, number>,
  frontend: { readonly captured: CapturedFrontend | undefined; readonly isListed: boolean },
): string[] {
  const flags = schedulerFlags.length === 0 ? '' : ` ${schedulerFlags.join()}`;
  const persistence = persistenceSeconds === 0 ? '' : ` persistent ${persistenceSeconds}`;
  const lines = [...weights].map(([id, weight]) => `destination ${id} weight ${weight}`).sort();
  const more = lines.length - MOST_LINES;
  return [
    `scheduler ${scheduler}${flags}${persistence}`,
    ...lines.slice(0, MOST_LINES),
    ...(more > 0 ? [`and ${more} more destinations`] : []),
    ...captureLines(frontend.captured),
    ...(frontend.isListed ? [] : ['not marked as ours']),
  ];
}

function captureLines(captured: CapturedFrontend | undefined): string[] {
  if (captured === undefined) return ['captured from no source'];
  const { pod, host, outside } = captured.capture;
  return [`pod: ${pod}, host: ${host}, outside: ${outside}`];
}
