import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '../../../lab/browser/browser.ts';
import type { Page } from '../../../lab/browser/page.ts';
import { ScriptedView } from './scripted-view.ts';

const SERVICES = 50_000;
/** CPU of the page's thread, so that a busy machine changes little: without others it is the time. */
const MOST_START_MS = 1000;
const MOST_TICK_MS = 50;
const TICKS = 5;

/** Runs before the page: notes when every dot is drawn. */
const WATCH = `
  const look = setInterval(() => {
    if (document.querySelector('.dots canvas')?.dataset.shown !== '${SERVICES}') return;
    clearInterval(look);
    requestAnimationFrame(() => { globalThis.drawnAtMs = performance.now(); });
  }, 5);
`;
const DRAWN = `Number(document.querySelector('.dots canvas').dataset.drawn)`;

describe(`the page of fairlead view with ${SERVICES} Services`, () => {
  it('is interactive within one second, and a tick costs little', async (t) => {
    const view = new ScriptedView({ services: SERVICES });
    await view.open();
    t.after(() => view.close());
    const browser = await Browser.start();
    t.after(() => browser.stop());
    const page = await browser.newPage();
    await page.tools.call('Performance.enable', { timeDomain: 'threadTicks' });
    await page.look({ width: 1280 });
    await page.tools.call('Page.addScriptToEvaluateOnNewDocument', { source: WATCH });
    const before = await usedMs(page);
    await page.open(`${view.url}#/map`);
    await page.until('globalThis.drawnAtMs', 'every dot');
    const startMs = (await usedMs(page)) - before;
    const drawnAtMs = await page.evaluate<number>('drawnAtMs');
    await page.until(`document.querySelector('.rope-box')`, 'the first tick');
    const [drawn, used] = [await page.evaluate<number>(DRAWN), await usedMs(page)];
    for (let index = 1; index <= TICKS; index += 1) view.change(index * 997, 'w');
    await page.until(`document.querySelector('b[data-state=w]').textContent !== '0'`, 'a change');
    await page.until(`${DRAWN} >= ${drawn} + ${TICKS - 1}`, 'changes of single dots');
    const tickMs = ((await usedMs(page)) - used) / TICKS;
    const more = (await page.evaluate<number>(DRAWN)) - drawn;
    t.diagnostic(
      `start ${Math.round(startMs)} ms of CPU, every dot after ${Math.round(drawnAtMs)} ms; ` +
        `a tick ${Math.round(tickMs)} ms of CPU`,
    );
    assert.ok(more <= TICKS, `${more} dots were drawn for a change of ${TICKS}`);
    assert.ok(startMs < MOST_START_MS, `${startMs} ms`);
    assert.ok(tickMs < MOST_TICK_MS, `${tickMs} ms`);
    assert.deepEqual(page.errors, []);
  });
});

/** CPU of the page's thread so far. */
async function usedMs(page: Page): Promise<number> {
  const { metrics } = await page.tools.call<{ metrics: { name: string; value: number }[] }>(
    'Performance.getMetrics',
  );
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}
