import { join } from 'node:path';
import { silentProgress } from '../../../../../lab/host/progress.ts';
import { provideBench } from '../../../../../lab/parts/bench.ts';
import { askStreams, countOf, serveStreams } from '../../../../../lab/servers/streams.ts';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { livingForwarder } from './forwarder.ts';

const PORT = 9_100;
const WORKERS = 64;
/** Each side is idle once for up to this long, so that pairs without a byte in hand can move. */
const PAUSE_MS = 300;
const RIGHT_DEADLINE_MS = 60_000;
const DEADLINE_MS = 10 * 60_000;

export interface StreamsSize {
  readonly streams: number;
  /** How often another build of the forwarder takes over meanwhile. */
  readonly replacements: number;
}

export function streamsAcrossReplacements(of: StreamsSize): PlaneFault {
  return {
    name: 'forwarder replaced under streams',
    done: `${of.streams} streams in six ways to end, every byte checked, while the forwarder is replaced ${of.replacements} times`,
    happen: (scene) => replaceUnderStreams(scene, of),
  };
}

async function replaceUnderStreams(
  scene: PlaneScene,
  { streams, replacements }: StreamsSize,
): Promise<PlaneOutcome> {
  await scene.serving();
  const program = await provideBench({ progress: silentProgress });
  const pods = [scene.pod('left'), scene.pod('right')];
  const servers = await Promise.all(
    pods.map(({ namespacePath, spec }) =>
      serveStreams({
        program,
        namespacePath,
        port: PORT,
        logFile: join(
          scene.cluster.lab.folder,
          `streams-${spec.name}-${process.hrtime.bigint()}.log`,
        ),
      }),
    ),
  );
  const address = await scene.service('streams', { protocol: 'TCP', port: PORT, targetPort: PORT });
  const endpoints = pods.map((pod) => pod.address.ipv4);
  await scene.setEndpoints('streams', endpoints);
  await scene.inside.becomesRight('diff', RIGHT_DEADLINE_MS);
  let pid = await livingForwarder(scene);
  let isAsked = true;
  const asked = askStreams({
    program,
    namespacePath: scene.pod('asker').namespacePath,
    to: `${address}:${PORT}`,
    connections: streams,
    workers: WORKERS,
    pauseMs: PAUSE_MS,
    deadlineMs: DEADLINE_MS,
  }).finally(() => {
    isAsked = false;
  });
  let replaced = 0;
  try {
    while (replaced < replacements) {
      must(isAsked, `only ${replaced} of ${replacements} replacements were under streams`);
      const { usual, other } = scene.builds;
      await scene.become(scene.proxyName, replaced % 2 === 0 ? other : usual);
      pid = await livingForwarder(scene, pid);
      replaced += 1;
    }
  } finally {
    await asked.catch(() => undefined);
  }
  const client = await asked;
  const counts = [client, ...(await Promise.all(servers.map((server) => server.stop())))];
  const wrong = counts.reduce((sum, each) => sum + countOf(each.wrong), 0);
  const faults = counts.flatMap((each) => each.faults).slice(0, 5);
  must(wrong === 0, `${wrong} wrong: ${faults.join('; ')}`);
  const right = countOf(client.right);
  must(right === streams, `${right} of ${streams} streams ended`);
  return {
    rightAfter: `never wrong in ${replaced} replacements`,
    lost: `nothing: 0 of ${streams} streams wrong, ${(client.bytes / 1e6).toFixed(0)} MB`,
  };
}
