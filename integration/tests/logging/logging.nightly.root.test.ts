import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type Scene, scene } from './scene.ts';

const DROPPED = 'fairlead_log_lines_dropped_total';
const NOTICE = /log lines were dropped .*count=\d+/;
const DEADLINE_MS = 30_000;

/** A file system of a few pages, and a file that has taken them all. */
async function fullDisk({ folder, atEnd }: Scene): Promise<{ filler: string; log: string }> {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  await run(['mount', '-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk]);
  atEnd(() => run(['umount', disk]));
  const filler = join(disk, 'filler');
  await assert.rejects(writeFile(filler, Buffer.alloc(1024 * 1024)), { code: 'ENOSPC' });
  return { filler, log: join(disk, 'log') };
}

/** A pipe with a reader that reads nothing, and no room. */
async function stalledPipe({ folder, atEnd }: Scene) {
  const path = join(folder, 'pipe');
  await run(['mkfifo', path]);
  const pipe = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  atEnd(() => pipe.close());
  const page = Buffer.alloc(4096);
  await assert.rejects(
    async () => {
      for (;;) await pipe.write(page);
    },
    { code: 'EAGAIN' },
  );
  return { path, pipe };
}

it('goes on programming changes while its log is on a full disk', async (t) => {
  const stage = await scene(t);
  const { filler, log } = await fullDisk(stage);
  const daemon = stage.start(`2>${log}`);
  await stage.programs(1);
  await stage.programs(20);
  assert.ok((await stage.metric(DROPPED)) > 0);
  await rm(filler);
  await stage.programs(30);
  await until(async () => NOTICE.test(await readFile(log, 'utf8')), {
    what: 'the notice of what was dropped',
    deadlineMs: DEADLINE_MS,
  });
  assert.equal(daemon.ended(), undefined);
});

it('goes on programming changes while the reader of its log has stalled, and ends', async (t) => {
  const stage = await scene(t);
  const { path, pipe } = await stalledPipe(stage);
  const daemon = stage.start(`2>${path}`);
  await stage.programs(1);
  await stage.programs(20);
  const { buffer } = await pipe.read(Buffer.alloc(1024 * 1024));
  assert.ok(buffer.length > 0);
  await until(
    async () => {
      const { bytesRead } = await pipe
        .read(Buffer.alloc(1024 * 1024))
        .catch(() => ({ bytesRead: 0 }));
      return bytesRead > 0;
    },
    { what: 'the lines that waited', deadlineMs: DEADLINE_MS },
  );
  await daemon.stop();
  assert.equal(daemon.ended(), 'exit code 0');
});

it('goes on programming changes after the reader of its log has gone', async (t) => {
  const stage = await scene(t);
  const path = join(stage.folder, 'pipe');
  await run(['mkfifo', path]);
  const reader = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  const daemon = stage.start(`2>${path}`);
  await stage.programs(1);
  await reader.close();
  await stage.programs(20);
  assert.ok((await stage.metric(DROPPED)) > 0);
  assert.equal(daemon.ended(), undefined);
});

for (const redirection of ['2>&-', '2>/dev/full', '>/dev/full 2>&1']) {
  it(`goes on programming changes with ${redirection}`, async (t) => {
    const stage = await scene(t);
    stage.start(redirection);
    await stage.programs(1);
    await stage.programs(20);
  });
}
