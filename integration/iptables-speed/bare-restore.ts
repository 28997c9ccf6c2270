import { LabError } from '../../lab/host/errors.ts';
import { run } from '../../lab/host/run.ts';

/** On the nft backend a whole table at once takes minutes: longer is not waited for. */
const DEADLINE_MS = 120_000;

/** What a node's table nat costs the program and the kernel alone, in a network of its own. */
export async function bareRestoreSeconds(namespacePath: string, program: string): Promise<string> {
  const save = [program, 'iptables-save', '-t', 'nat'];
  const table = await run(['nsenter', `--net=${namespacePath}`, ...save]);
  const begunMs = performance.now();
  try {
    await run(['unshare', '--net', program, 'iptables-restore'], {
      input: table,
      deadlineMs: DEADLINE_MS,
    });
  } catch (error) {
    if (error instanceof LabError) return `not within ${DEADLINE_MS / 1000} s`;
    throw error;
  }
  return `${((performance.now() - begunMs) / 1000).toFixed(2)} s`;
}

const ONE_RULE = ['*nat', ':BARE - [0:0]', '-A BARE -j RETURN', 'COMMIT', ''].join('\n');

/** What one chain of one rule more costs the program and the kernel, in the node's own table. */
export async function bareChangeSeconds(namespacePath: string, program: string): Promise<string> {
  const begunMs = performance.now();
  const restore = [program, 'iptables-restore', '--noflush'];
  await run(['nsenter', `--net=${namespacePath}`, ...restore], {
    input: ONE_RULE,
    deadlineMs: DEADLINE_MS,
  });
  return `${((performance.now() - begunMs) / 1000).toFixed(2)} s`;
}
