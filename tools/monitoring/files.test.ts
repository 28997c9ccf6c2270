import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { monitoringFiles } from './files.ts';
import { ROWS } from './panels.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/monitoring');

it('has written deploy/monitoring last: run `npm run monitoring` after a change', () => {
  for (const [name, text] of monitoringFiles()) {
    assert.equal(readFileSync(join(FOLDER, name), 'utf8'), text, name);
  }
});

it('places panels side by side without overlap', () => {
  const dashboard = JSON.parse(monitoringFiles().get('dashboard.json') ?? '');
  const cells = new Set<string>();
  for (const { gridPos, title } of dashboard.panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !cells.has(`${x},${y}`), title);
        cells.add(`${x},${y}`);
      }
    }
  }
  const titles = ROWS.flatMap(({ panels }) => panels.map(({ title }) => title));
  assert.equal(new Set(titles).size, titles.length);
});
