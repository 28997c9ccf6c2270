import { constants } from 'node:os';

const { EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC } = constants.errno;
const NO_ROOM: ReadonlySet<number> = new Set([EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC]);

/** The machine or the user has run out of descriptors, watches or memory, which may pass. */
export function isNoRoom(errno: number): boolean {
  return NO_ROOM.has(errno);
}
