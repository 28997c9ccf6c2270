import { until } from '../../../../../lab/host/until.ts';
import { ForwarderLink } from '../../../../../src/wings/userspace/plane/forwarder-link.ts';
import type {
  Answers,
  Request,
} from '../../../../../src/wings/userspace/plane/forwarder-protocol.ts';
import { currentSockets } from '../../../../../src/wings/userspace/plane/run-files.ts';
import type { PlaneScene } from '../plane-scene.ts';

const ANSWER_DEADLINE_MS = 5_000;
/** Starts after failures wait for up to 30 s. */
const ALIVE_DEADLINE_MS = 60_000;

/** Asks the forwarder of the node over its control socket. */
export async function askForwarder<Asked extends Request['do']>(
  scene: PlaneScene,
  request: Extract<Request, { do: Asked }>,
): Promise<Answers[Asked]> {
  const path = currentSockets(scene.runFolder).control;
  const link = await ForwarderLink.open(path, ANSWER_DEADLINE_MS);
  try {
    return await link.ask(request, ANSWER_DEADLINE_MS);
  } finally {
    link.close();
  }
}

/** Resolves to its process id when the forwarder takes connections; `not`: as another process. */
export async function livingForwarder(scene: PlaneScene, not?: number): Promise<number> {
  return await until(
    async () => {
      try {
        const { pid } = await askForwarder(scene, { do: 'hello' });
        const { accepts } = await askForwarder(scene, { do: 'pulse' });
        return accepts && pid !== not ? pid : undefined;
      } catch {
        // None yet, or the one that is ending: the deadline tells.
        return undefined;
      }
    },
    { what: 'a forwarder that accepts', deadlineMs: ALIVE_DEADLINE_MS },
  );
}
