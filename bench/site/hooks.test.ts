import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertHooked } from './hooks.ts';

describe('assertHooked()', () => {
  let pinFolder: string;
  before(async () => {
    pinFolder = await mkdtemp(join(tmpdir(), 'fairlead-hooks-'));
  });
  after(() => rm(pinFolder, { recursive: true }));

  it('rejects a proxy that has attached no program, and accepts one that has', async () => {
    const place = { cgroupPath: '/nowhere', pinFolder };
    const rejected = { code: 'LAB_USAGE', message: /no programs/ };
    await assert.rejects(assertHooked(undefined), rejected);
    await assert.rejects(assertHooked(place), rejected);
    await mkdir(join(pinFolder, 'links'));
    await assert.rejects(assertHooked(place), rejected);
    await writeFile(join(pinFolder, 'links', 'connect4'), '');
    await assertHooked(place);
  });
});
