import { paths, type Service } from '../../lab/api/objects.ts';
import { nodeName } from '../../lab/network/plan.ts';
import type { Change } from '../scenario.ts';
import type { World } from '../world.ts';
import {
  createPod,
  createService,
  deleteSlices,
  expandAddresses,
  expandPorts,
  setLoadBalancer,
  writeSlices,
} from './declare.ts';
import { dropDefaultRoutes } from './default-routes.ts';
import { startNodeCache } from './node-cache.ts';
import { changeAgent } from './outside-agent.ts';
import { startServer } from './start-server.ts';

/** Long enough that a terminating pod stays until the scenario removes it. */
const TERMINATION_GRACE_SECONDS = 600;

/** Makes one change in the API, as a user, a kubelet or a controller would. */
export async function applyChange(world: World, change: Change): Promise<void> {
  if ('setReady' in change) return await setReady(world, change);
  if ('terminate' in change) {
    await world.pod(change.terminate).terminate(TERMINATION_GRACE_SECONDS);
    world.terminating.add(change.terminate);
    return;
  }
  if ('removePod' in change) return await removePod(world, change.removePod);
  if ('addPod' in change) return await createPod(world, change.addPod, change.pod);
  if ('patchService' in change) return await patchService(world, change);
  if ('deleteService' in change) {
    await world.lab.api.delete(paths.service(world.namespace, change.deleteService));
    world.forget(change.deleteService);
    return;
  }
  if ('createService' in change) {
    return await createService(world, change.createService, change.service);
  }
  if ('writeSlice' in change) return await writeSlices(world, change.writeSlice, change.slice);
  if ('labelNamespace' in change) {
    const labels = change.labelNamespace;
    await world.lab.api.patch(`${paths.namespaces}/${world.namespace}`, { metadata: { labels } });
    return;
  }
  if ('startNodeCache' in change) return await startNodeCache(world, change);
  if ('stopNodeCache' in change) return await world.stop(change.stopNodeCache);
  if ('startServer' in change) return await startServer(world, change);
  if ('dropDefaultRoutes' in change) {
    return await dropDefaultRoutes(world, change.dropDefaultRoutes);
  }
  if ('restoreDefaultRoutes' in change) return await world.stop(change.restoreDefaultRoutes);
  if ('agent' in change) return await changeAgent(world, change.agent);
  if ('deleteSlice' in change) return await deleteSlices(world, change.deleteSlice);
  const taints = change.keys.map((key) => ({ key, effect: 'NoSchedule' }));
  await world.lab.api.patch(paths.node(nodeName(change.taintNode)), { spec: { taints } });
}

async function setReady(world: World, change: { setReady: string; ready: boolean }): Promise<void> {
  await world.pod(change.setReady).setReady(change.ready);
  if (change.ready) world.notReady.delete(change.setReady);
  else world.notReady.add(change.setReady);
}

async function removePod(world: World, name: string): Promise<void> {
  const pod = world.pod(name);
  world.pods.delete(name);
  world.terminating.delete(name);
  world.notReady.delete(name);
  await pod.remove();
}

async function patchService(
  world: World,
  change: Extract<Change, { patchService: string }>,
): Promise<void> {
  const { patchService: name, to } = change;
  const externalIPs = to.externalIPs && expandAddresses(world, to.externalIPs);
  await world.lab.api.patch(paths.service(world.namespace, name), {
    metadata: { labels: to.labels ?? {}, annotations: to.annotations ?? {} },
    spec: {
      ...to.spec,
      ...(to.ports ? { ports: expandPorts(world, to.ports) } : {}),
      ...(externalIPs ? { externalIPs } : {}),
    },
  });
  if (to.loadBalancer) await setLoadBalancer(world, name, to.loadBalancer);
  const service = await world.lab.api.get<Service>(paths.service(world.namespace, name));
  world.services.set(name, service);
}
