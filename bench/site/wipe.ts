import { rm } from 'node:fs/promises';
import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { wipeIpvs } from '../../lab/network/wipe-ipvs.ts';

/** Tens of thousands of chains take the kernel a while to forget. */
const DEADLINE_MS = 120_000;
const LEGACY_TABLES = ['nat', 'filter', 'mangle'];

/** Deletes everything that a proxy has left in a node's kernel before the next one starts. */
export async function wipeNode(
  path: string,
  of: {
    readonly isLegacy: boolean;
    readonly needsIpvs?: boolean;
    readonly pinFolder?: string | undefined;
  },
): Promise<void> {
  // Programs leave what they are attached to with the last that holds them.
  if (of.pinFolder !== undefined) await rm(of.pinFolder, { recursive: true, force: true });
  await run(enterNamespace(path, ['nft', 'flush', 'ruleset']), { deadlineMs: DEADLINE_MS });
  if (of.isLegacy) await wipeLegacy(path);
  if (of.needsIpvs) await wipeIpvs(path);
  await forgetConnections(path);
}

/** Those of earlier loads would fill the table, and be found by later ones. */
export async function forgetConnections(path: string): Promise<void> {
  await run(enterNamespace(path, ['conntrack', '-F']), { deadlineMs: DEADLINE_MS });
}

async function wipeLegacy(path: string): Promise<void> {
  for (const command of ['iptables-restore', 'ip6tables-restore']) {
    const argv = enterNamespace(path, ['xtables-legacy-multi', command]);
    const input = LEGACY_TABLES.map((table) => `*${table}\nCOMMIT\n`).join('');
    await run(argv, { input, deadlineMs: DEADLINE_MS });
  }
}
