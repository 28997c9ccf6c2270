import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '../../../lab/browser/browser.ts';
import { ScriptedView } from './scripted-view.ts';

const SERVICES = 50_000;
const MOST_MS = 1000;
/** A tick may take this much of the page's thread, drawing included. */
const MOST_TICK_MS = 50;

/** Runs before the page: notes when every dot is drawn, and tasks that keep keys waiting. */
const WATCH = `
  globalThis.tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => [e.startTime, e.duration]))).observe({ type: 'longtask', buffered: true });
  const look = setInterval(() => {
    if (document.querySelector('.dots canvas')?.dataset.shown !== '${SERVICES}') return;
    clearInterval(look);
    requestAnimationFrame(() => { globalThis.drawnAtMs = performance.now(); });
  }, 5);
`;

describe(`the page of fairlead view with ${SERVICES} Services`, () => {
  it('is interactive within one second, and a tick costs little', async (t) => {
    const view = new ScriptedView({ services: SERVICES });
    await view.open();
    t.after(() => view.close());
    const browser = await Browser.start();
    t.after(() => browser.stop());
    const page = await browser.newPage();
    await page.look({ width: 1280 });
    await page.tools.call('Page.addScriptToEvaluateOnNewDocument', { source: WATCH });
    await page.open(`${view.url}#/map`);
    await page.until('globalThis.drawnAtMs', 'every dot');
    await page.until(`document.querySelector('.rope-box')`, 'the first tick');
    const drawnAtMs = await page.evaluate<number>('drawnAtMs');
    const atStart = await page.evaluate<[number, number][]>('tasks');
    const interactiveMs = Math.max(drawnAtMs, ...atStart.map(([start, took]) => start + took));
    await page.evaluate('tasks.length = 0');
    const ticks = `Number(document.querySelector('.dots canvas').dataset.drawn)`;
    const before = await page.evaluate<number>(ticks);
    for (let index = 0; index < 5; index += 1) view.change(index * 997, 'n');
    await page.until(`${ticks} >= ${before} + 4`, 'changes of single dots');
    const [blockedMs, isAll] = await page.evaluate<[number, boolean]>(
      `[Math.max(0, ...tasks.map(([, took]) => took)), ${ticks} - ${before} >= ${SERVICES}]`,
    );
    t.diagnostic(
      `interactive after ${Math.round(interactiveMs)} ms, of which tasks over 50 ms: ${JSON.stringify(atStart.map(([, took]) => Math.round(took)))}; longest task of a tick ${blockedMs || 'below 50'} ms`,
    );
    assert.equal(isAll, false, 'all dots were drawn for a change of five');
    assert.ok(interactiveMs < MOST_MS, `interactive after ${interactiveMs} ms`);
    assert.ok(blockedMs <= MOST_TICK_MS, `a tick took ${blockedMs} ms`);
    assert.deepEqual(page.errors, []);
  });
});
