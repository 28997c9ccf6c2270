import { setTimeout as delay } from 'node:timers/promises';
import type { Difference } from '../../dataplanes/contract.ts';
import { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import { modeNamed } from '../../modes/mode-registry.ts';
import type { Basis } from '../basis/basis.ts';
import { answerOf } from '../basis/basis-answer.ts';
import { CommandError } from '../command-error.ts';
import { ownNetworkNamespace } from '../run/describe-agent-node.ts';

/**
 * Delay before differences are compared again: a change may be in flight between API and kernel.
 */
const SECOND_LOOK_AFTER_MS = 500;

/** The agent's rows apply to its own network namespace only. */
export function assertSameNetwork(
  { pid, networkNamespace }: { readonly pid: number; readonly networkNamespace: string },
  command: { readonly name: string; readonly orElse: string },
): void {
  const own = ownNetworkNamespace();
  if (own === networkNamespace) return;
  throw new CommandError(
    `the agent (pid ${pid}) serves another network namespace (${networkNamespace}) than that of this command (${own})`,
    {
      code: 'OTHER_NETWORK',
      next: `run \`nsenter -t ${pid} -n fairlead ${command.name}\`${command.orElse}`,
    },
  );
}

/** Differences between the desired state and the kernel that are there twice. */
export async function persistentDifferences(
  basis: Basis,
  { runFolder }: { readonly runFolder: string },
): Promise<readonly Difference[]> {
  const first = await compare(basis, { isRepeated: false, runFolder });
  if (first.length === 0) return [];
  await delay(SECOND_LOOK_AFTER_MS);
  const known = new Set(first.map(idOf));
  return (await compare(basis, { isRepeated: true, runFolder })).filter((difference) =>
    known.has(idOf(difference)),
  );
}

async function compare(
  basis: Basis,
  { isRepeated, runFolder }: { readonly isRepeated: boolean; readonly runFolder: string },
): Promise<readonly Difference[]> {
  const { mode, ebpf, ipvs } = basis.config.settings;
  const { plane } = (await modeNamed(mode)).open({ ebpf, ipvs, runFolder });
  try {
    const { facts, rows } = await answerOf(basis, { isAboutThisMachine: true, isRepeated });
    return await plane.diff({ facts, rows: rows.map(({ forwarding }) => forwarding) });
  } catch (error) {
    throw error instanceof NetlinkError ? unreadable(error, mode) : error;
  }
}

/** The kernel lacks a feature, or a user namespace denies access. */
function unreadable(cause: NetlinkError, mode: string): CommandError {
  return new CommandError(`cannot read the kernel state of mode ${mode}: ${cause.message}`, {
    code: 'KERNEL_UNREADABLE',
    next: 'run the command as root on a kernel that meets the requirements in docs/install.md',
    cause,
  });
}

function idOf({ kind, object }: Difference): string {
  return `${kind} ${object}`;
}
