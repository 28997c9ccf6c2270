import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const DEADLINE_MS = 120_000;

/** Runs a script of Node's inside a control group; gives what it printed. */
export async function runInGroup(cgroup: string, script: string): Promise<string> {
  const enter = `echo $$ > ${cgroup}/cgroup.procs && exec "$0" -e "$1"`;
  const argv = ['-c', enter, process.execPath, script];
  const { stdout } = await promisify(execFile)('sh', argv, { timeout: DEADLINE_MS });
  return stdout.trim();
}
