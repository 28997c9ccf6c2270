import { paths } from '../../../../lab/api/objects.ts';
import type { Destination, Origin } from '../../../../lab/host/sockets.ts';
import { until } from '../../../../lab/host/until.ts';
import type { Pod } from '../../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../../lab/lab.ts';
import { VICTIM } from '../names.ts';
import { createService, setEndpoint } from '../victim/pods.ts';
import { whoAnswers } from '../victim/who-answers.ts';

const SERVED_DEADLINE_MS = 15_000;
const DIALS = 20;

export interface Newcomer {
  readonly made: number;
  readonly failed: number;
  readonly example?: string;
}

/** A Service of the victim that is created while the bound is full, and whose pod is then replaced. */
export async function askNewcomer(of: {
  lab: Lab;
  from: Origin;
  name: string;
  pods: readonly [Pod, Pod];
}): Promise<Newcomer> {
  const { lab, from, name, pods } = of;
  const [first, second] = pods;
  const to = await createService(lab, { name, pods: [first] });
  const created = await askFor(first, { from, to });
  await setEndpoint(lab, name, second);
  const replaced = await askFor(second, { from, to });
  await lab.api.delete(paths.service(VICTIM, name));
  await lab.api.delete(paths.slice(VICTIM, name));
  const example = created.example ?? replaced.example;
  return {
    made: created.made + replaced.made,
    failed: created.failed + replaced.failed,
    ...(example === undefined ? {} : { example: `new Service: ${example}` }),
  };
}

/** From the first answer of the pod on, no connection may fail. */
async function askFor(pod: Pod, at: { from: Origin; to: Destination }): Promise<Newcomer> {
  const { name } = pod.spec;
  const isServed = async (): Promise<boolean> => (await whoAnswers(at.from, at.to)) === name;
  try {
    await until(isServed, { what: `an answer of ${name}`, deadlineMs: SERVED_DEADLINE_MS });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { made: 1, failed: 1, example: error.message };
  }
  let failed = 0;
  for (let count = 0; count < DIALS; count++) {
    if ((await whoAnswers(at.from, at.to)) !== name) failed++;
  }
  const example = failed === 0 ? {} : { example: `${failed} of ${DIALS} did not reach ${name}` };
  return { made: DIALS, failed, ...example };
}
