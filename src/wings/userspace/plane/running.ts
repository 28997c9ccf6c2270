import { connectDescriptors } from '../../../linux/userspace/pass-descriptors.ts';
import { listeningPid } from '../../../linux/userspace/peer.ts';
import { ForwarderLink } from './forwarder-link.ts';
import type { Answers, Hello, Request } from './forwarder-protocol.ts';
import type { ForwarderSockets } from './run-files.ts';

/** Two connections to a forwarder: a question that takes long must not hold up the pulse. */
export interface RunningForwarder {
  readonly hello: Hello;
  /** As this process sees it, unlike `hello.pid`; undefined: it runs in another container. */
  readonly pid: number | undefined;
  /** Exit code or signal, once it has ended; only of one that this process started. */
  readonly exit?: () => string | undefined;
  readonly work: ForwarderLink;
  readonly pulse: ForwarderLink;
}

/** A starved machine answers late; one that answers later than this is taken for hanging. */
export const ANSWER_MS = 2000;

const NOBODY: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'FORWARDER_ENDED']);

/** Undefined: no process listens at these sockets. Rejects when one does not answer. */
export async function meet({
  control,
  handover,
}: ForwarderSockets): Promise<RunningForwarder | undefined> {
  const links: ForwarderLink[] = [];
  try {
    for (let count = 0; count < 2; count++) {
      links.push(await ForwarderLink.open(control, ANSWER_MS));
    }
    const [work, pulse] = links as [ForwarderLink, ForwarderLink];
    const hello = await work.ask<'hello'>({ do: 'hello' }, ANSWER_MS);
    return { hello, pid: (await processAt(handover)) || undefined, work, pulse };
  } catch (error) {
    for (const link of links) link.close();
    if (isNobody(error)) return undefined;
    throw error;
  }
}

/** The process at a handover socket, also one that hangs; undefined: none; 0: in another container. */
export async function processAt(handover: string): Promise<number | undefined> {
  try {
    using socket = await connectDescriptors(handover, { timeoutMs: ANSWER_MS });
    return listeningPid(socket.fd);
  } catch (error) {
    if (isNobody(error)) return undefined;
    throw error;
  }
}

/** One question by a connection of its own. Undefined: no process listens there. */
export async function askOnce<Asked extends Request['do']>(
  path: string,
  request: Extract<Request, { do: Asked }>,
  deadlineMs = ANSWER_MS,
): Promise<Answers[Asked] | undefined> {
  let link: ForwarderLink | undefined;
  try {
    link = await ForwarderLink.open(path, ANSWER_MS);
    return await link.ask<Asked>(request, deadlineMs);
  } catch (error) {
    if (isNobody(error)) return undefined;
    throw error;
  } finally {
    link?.close();
  }
}

export function part({ work, pulse }: RunningForwarder): void {
  work.close();
  pulse.close();
}

/** A process that just ended leaves its socket behind, and may close a connection that it accepted. */
function isNobody(error: unknown): boolean {
  return NOBODY.has((error as NodeJS.ErrnoException).code);
}

export function isSilent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'FORWARDER_SILENT' || code === 'ETIMEDOUT';
}
