import { join } from 'node:path';
import { silentProgress } from '../../../../../lab/host/progress.ts';
import { provideBench } from '../../../../../lab/parts/bench.ts';
import { askStreams, countOf, serveStreams } from '../../../../../lab/servers/streams.ts';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { livingForwarder } from './forwarder.ts';

const PORT = 9_101;
const LOCAL_PORTS = 'net.ipv4.ip_local_port_range';
/** The forwarder takes those from 10,240 to 32,767 that the node does not use: 4,167 are left. */
const FEW_PORTS = '1024 28600';
/** About twice as many end on the side of the forwarder as there are ports. */
const STREAMS = 8_000;
/** So few that each port has rested for a second before its turn comes again. */
const WORKERS = 4;
const RIGHT_DEADLINE_MS = 60_000;
const DEADLINE_MS = 5 * 60_000;

/**
 * A pod asks itself, so that the forwarder uses its own address. Every connection that it ends first
 * keeps its port for a minute, unless the kernel may use it again.
 */
export const PORTS_FAULT: PlaneFault = {
  name: 'forwarder with few ports',
  done: `${STREAMS} short connections to one endpoint within a minute, from 4,167 ports`,
  happen: useUpPorts,
};

async function useUpPorts(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const program = await provideBench({ progress: silentProgress });
  const { namespacePath, address } = scene.pod('left');
  const server = await serveStreams({
    program,
    namespacePath,
    port: PORT,
    logFile: join(scene.cluster.lab.folder, `ports-${process.hrtime.bigint()}.log`),
  });
  const clusterIP = await scene.service('ports', { protocol: 'TCP', port: PORT, targetPort: PORT });
  await scene.setEndpoints('ports', [address.ipv4]);
  await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  const usual = (await scene.onNode('sysctl', '-n', LOCAL_PORTS)).trim();
  await scene.onNode('sysctl', '-qw', `${LOCAL_PORTS}=${FEW_PORTS}`);
  try {
    // It reads them when it starts.
    const before = await livingForwarder(scene);
    process.kill(before, 'SIGKILL');
    await livingForwarder(scene, before);
    const counts = await askStreams({
      program,
      namespacePath,
      to: `${clusterIP}:${PORT}`,
      connections: STREAMS,
      workers: WORKERS,
      mostBytes: 100,
      deadlineMs: DEADLINE_MS,
    });
    const wrong = countOf(counts.wrong);
    must(wrong === 0, `${wrong} of ${STREAMS} failed: ${counts.faults[0]}`);
    return { rightAfter: 'never wrong', lost: `nothing: 0 of ${STREAMS} failed` };
  } finally {
    await scene.onNode('sysctl', '-qw', `${LOCAL_PORTS}=${usual}`);
    await server.stop();
  }
}
