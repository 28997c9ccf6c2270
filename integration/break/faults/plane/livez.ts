import { until } from '../../../../lab/host/until.ts';
import type { PlaneScene } from './plane-scene.ts';

/** Resolves with the time it took until `/livez` answered so. */
export async function livezBecomes(
  scene: PlaneScene,
  status: number,
  deadlineMs: number,
): Promise<number> {
  const from = performance.now();
  const what = `/livez to answer ${status}`;
  await until(async () => (await scene.livez()) === status, { what, deadlineMs });
  return performance.now() - from;
}
