import { rm } from 'node:fs/promises';
import { CommandError } from '../../../commands/command-error.ts';
import { below, THIS_MACHINE } from '../paths.ts';
import { dropFromRecord, fileState, readRecord } from '../record.ts';
import { removeFolders, removeRecord } from '../remove-files.ts';
import { serviceManagerOf } from '../service-manager.ts';
import { removeLink } from './dns-link.ts';
import { DNS_LINK, DNS_UNIT_FILE, DNS_UNIT_NAME } from './dns-plan.ts';

/** Removes what apply made, and nothing else; names what it removed. */
export async function undoDns(root: string): Promise<readonly string[]> {
  const removed: string[] = [];
  const manager = serviceManagerOf(root);
  const { files, units, links } = await readRecord(root);
  if (units.includes(DNS_UNIT_NAME)) {
    await assertUnchanged(
      root,
      files.find(({ path }) => path === DNS_UNIT_FILE),
    );
    await manager?.disable(DNS_UNIT_NAME);
    await manager?.stop(DNS_UNIT_NAME);
    await rm(below(root, DNS_UNIT_FILE), { force: true });
    await manager?.reload();
    await dropFromRecord(root, { units: [DNS_UNIT_NAME], files: [DNS_UNIT_FILE] });
    removed.push(below(root, DNS_UNIT_FILE));
  }
  if (links.includes(DNS_LINK)) {
    if (root === THIS_MACHINE) await removeLink();
    await dropFromRecord(root, { links: [DNS_LINK] });
    removed.push(`interface ${DNS_LINK}`);
  }
  await dropEmptyRecord(root);
  return removed;
}

/** A file that somebody has changed is theirs. */
async function assertUnchanged(
  root: string,
  file: { readonly path: string; readonly sha256: readonly string[] } | undefined,
): Promise<void> {
  if (file === undefined || (await fileState(root, file)) !== 'changed') return;
  throw new CommandError(`${below(root, file.path)} was changed since Fairlead wrote it`, {
    code: 'FILE_NOT_OURS',
    next: `move it away, and run it again; nothing was changed`,
  });
}

/** Nothing else was made on this machine: the record and its folder go too. */
async function dropEmptyRecord(root: string): Promise<void> {
  const { files, units, links, objects, folders } = await readRecord(root);
  if (files.length + units.length + links.length + objects.length > 0) return;
  await removeRecord(root);
  await removeFolders(root, folders);
}
