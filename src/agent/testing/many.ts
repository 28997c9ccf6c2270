import type { ServiceObject, SliceObject } from '../../cluster/objects.ts';
import { elsewhere, service, slice } from '../../forwarding/testing/example-objects.ts';
import type { VirtualClock } from '../../time/testing/virtual-clock.ts';
import type { AgentOptions } from '../agent.ts';
import { Stage } from './agent-stage.ts';

/** The Service with this number, with an address of its own. */
export function numbered(
  namespace: string,
  index: number,
  more: Partial<ServiceObject> = {},
): ServiceObject {
  const clusterIPs = [`10.96.${index >> 8}.${index & 255}`];
  return service({ namespace, name: `s${String(index).padStart(5, '0')}`, clusterIPs, ...more });
}

/** A slice with so many endpoints for it. */
export function endpointsOf(
  { namespace, name }: ServiceObject,
  count: number,
  offset = 0,
): SliceObject {
  const endpoints = Array.from({ length: count }, (_, index) => {
    const host = index + offset;
    return elsewhere(`10.${10 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`);
  });
  return slice(endpoints, { namespace, name: `${name}-0`, service: name });
}

/** An agent whose first sync is over. */
export async function startedStage(
  clock: VirtualClock,
  { objectsPerStep, ...more }: Partial<AgentOptions> & { objectsPerStep?: number } = {},
): Promise<Stage> {
  const stage = new Stage(clock, { random: () => 0.5, ...more });
  if (objectsPerStep !== undefined) stage.plane.writeInParts(objectsPerStep);
  stage.start();
  await clock.settle();
  stage.complete();
  await clock.until('a first sync', () => stage.isEqual());
  return stage;
}

/** Starts an agent with so many Services, until the kernel has them. */
export async function synced(clock: VirtualClock, stage: Stage, count: number): Promise<void> {
  stage.start();
  await clock.settle();
  for (let i = 0; i < count; i++) stage.source.service(numbered('ns', i));
  stage.complete();
  await clock.until('a first sync', () => stage.isEqual());
}
