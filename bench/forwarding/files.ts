import { readFile } from 'node:fs/promises';

/** Descriptors of a process besides those of connections. */
const SPARE_FILES = 500;
/** A forwarder is full at nine tenths of its descriptors. */
const USABLE_SHARE = 0.88;
const FILES_PER_CONNECTION = 2;

/** Connections that a process between client and endpoint can hold on this machine. */
export async function mostHeld(listeners: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const [, hard = '1024'] = /^Max open files\s+\S+\s+(\d+)/m.exec(limits) ?? [];
  const files = (Number(hard) - listeners - SPARE_FILES) * USABLE_SHARE;
  return Math.floor(files / FILES_PER_CONNECTION / 100) * 100;
}
