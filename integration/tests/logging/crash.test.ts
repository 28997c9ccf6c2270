import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';

const CRASHING = join(import.meta.dirname, 'crashing.ts');
const DEADLINE_MS = 60_000;

it('logs a crash, and a warning of Node', async () => {
  const argv = [process.execPath, CRASHING, '0'] as const;
  const { exitCode, stderr } = await tryRun([...argv], { deadlineMs: DEADLINE_MS });
  assert.equal(exitCode, 1);
  assert.match(stderr, /^W\d{4} [\d:.]+ planted warning name=Warning$/m);
  assert.match(stderr, /^F\d{4} [\d:.]+ planted error stack="TypeError: planted error\\n.*"\n$/m);
  assert.equal(stderr.split('\n').length, 3);
});

it('a crash ends the process also when the reader of its log has stalled', async () => {
  // More than a pipe takes: the reader holds it open and reads nothing until the process has ended.
  const script =
    'coproc READER { exec sleep 100; }; "$0" "$1" 500 2>&"${READER[1]}"; echo "ended $?"; kill "$READER_PID"';
  const argv = ['bash', '-c', script, process.execPath, CRASHING] as const;
  const { stdout } = await tryRun([...argv], { deadlineMs: DEADLINE_MS });
  assert.equal(stdout, 'ended 1\n');
});
