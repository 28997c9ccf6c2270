import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '../../../lab/browser/browser.ts';
import { overflowOf } from './page-facts.ts';
import { ScriptedView } from './scripted-view.ts';

const IMAGE = 'evil/<img src=x onerror="document.title=1">';
const REVERSED = 'evil/\u202Egnp.exe';
const LONG = `evil/${'n'.repeat(253)}`;
const ROUTES = ['#/map', '#/services?q=evil', '#/changes'];

describe('hostile names on the page of fairlead view', () => {
  it('are text, keep their direction to themselves, and do not widen the page', async (t) => {
    const view = new ScriptedView({ services: 30, extra: [IMAGE, REVERSED, LONG] });
    await view.open();
    t.after(() => view.close());
    const browser = await Browser.start();
    t.after(() => browser.stop());
    const page = await browser.newPage();
    const named = [IMAGE, REVERSED, LONG].map(
      (name) => `#/service?name=${encodeURIComponent(name)}`,
    );
    for (const width of [1280, 390]) {
      await page.look({ width });
      for (const route of [
        ...ROUTES,
        ...named,
        ...named.map((each) => each.replace('service?name', 'map?service')),
      ]) {
        await page.open(`${view.url}${route}`);
        await page.until(`document.querySelector('main').textContent.length > 100`, route);
        await page.settle();
        assert.equal(await page.evaluate('document.querySelectorAll("img").length'), 0, route);
        assert.equal(await overflowOf(page), 0, `${route} at ${width}`);
        assert.equal(await page.evaluate('document.body.textContent.includes("\\u202e")'), false);
      }
      await page.open(`${view.url}#/services?q=evil`);
      await page.until(
        `document.body.textContent.includes('evil/<img src=x onerror=')`,
        'the name as text',
      );
      await page.until(
        `document.body.textContent.includes('evil/\\\\u202egnp.exe')`,
        'the override written out',
      );
    }
    assert.deepEqual(page.errors, []);
  });
});
