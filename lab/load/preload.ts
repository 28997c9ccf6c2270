import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEtcd } from '../control-plane/etcd.ts';
import { cacheFolder } from '../host/folders.ts';
import type { Progress } from '../host/progress.ts';
import { until } from '../host/until.ts';
import { httpGet } from '../servers/http-get.ts';
import { writeToEtcd } from './etcd-writer.ts';
import { type LoadSize, loadObjects } from './objects.ts';

export interface Preload {
  readonly size: LoadSize;
  readonly fabricPath: string;
  readonly etcd: string;
  readonly logFolder: string;
  /** The data folder of the lab's etcd; it must not exist yet. */
  readonly etcdFolder: string;
  readonly progress: Progress;
}

/** Changes when the objects do, so that a cluster of an older shape is never mistaken for one. */
const FORMAT = 2;
const READY_DEADLINE_MS = 20_000;

/**
 * Fills the data folder of an etcd that has not been started yet: from the cache, or by loading
 * once and keeping the result there. Through the API the largest size takes over ten minutes.
 */
export async function preloadEtcd(preload: Preload): Promise<void> {
  const { services, endpointsPerService } = preload.size;
  const name = `v${FORMAT}-${services}x${endpointsPerService}`;
  const kept = join(cacheFolder(), 'etcd', name);
  if (!existsSync(kept)) {
    await preload.progress.step(
      `load ${services} Services x ${endpointsPerService} endpoints`,
      (detail) => loadOnce(preload, { kept, detail }),
    );
  }
  await preload.progress.step(`copy of the loaded cluster ${name}`, () =>
    cp(kept, preload.etcdFolder, { recursive: true }),
  );
}

async function loadOnce(
  preload: Preload,
  to: { kept: string; detail: (text: string) => void },
): Promise<void> {
  const unfinished = `${to.kept}.loading-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const etcd = startEtcd({ ...preload, namespacePath: preload.fabricPath, dataFolder: unfinished });
  try {
    await until(() => isHealthy(preload.fabricPath), {
      what: 'etcd to answer',
      deadlineMs: READY_DEADLINE_MS,
    });
    await writeToEtcd({
      namespacePath: preload.fabricPath,
      objects: loadObjects(preload.size),
      onProgress: (written) => to.detail(`${written} objects`),
    });
    await etcd.stop();
    await rename(unfinished, to.kept);
  } catch (error) {
    await etcd.stop();
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function isHealthy(namespace: string): Promise<boolean> {
  const to = { address: '127.0.0.1', port: 2379, path: '/health' };
  const answer = await httpGet({ namespace }, to).catch(() => undefined);
  return answer?.status === 200;
}
