/**
 * Copies what is below a folder to a machine. Its files belong to root there, whichever user made them here:
 * the user who owned them could replace the unit and the credential plugin, which root starts. Folders
 * that the machine has keep their owner and mode.
 */
export function copyCommand(root: string, to: string): string {
  return `${packCommand(root)} | ssh root@${to} ${unpackCommand('/')}`;
}

export function packCommand(root: string): string {
  return `tar -C ${word(root)} --owner=0 --group=0 -c .`;
}

export function unpackCommand(root: string): string {
  return `tar -C ${word(root)} --no-overwrite-dir -xp`;
}

function word(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
