import { readFile } from 'node:fs/promises';

/** Lines of Fairlead's log begin with the letter of their level and a date. */
const LOUD_LINE = /^[WEF]\d{4} /;
/** About the machine, where a container may not lower its score; not about the API server. */
const MACHINE_LINE = / code=OOM_SCORE$/;

/** The lines of a log that are warnings, or worse. */
export async function loudLines(logFile: string): Promise<string[]> {
  const text = await readFile(logFile, 'utf8');
  return text.split('\n').filter((line) => LOUD_LINE.test(line) && !MACHINE_LINE.test(line));
}
