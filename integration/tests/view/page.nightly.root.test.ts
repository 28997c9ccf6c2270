import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser } from '../../../lab/browser/browser.ts';
import type { Page } from '../../../lab/browser/page.ts';
import { faintTexts, overflowOf } from './page-facts.ts';
import { ScriptedView } from './scripted-view.ts';

const SCREENS: Readonly<
  Record<string, { readonly route: string; readonly facts: Readonly<Record<string, string>> }>
> = {
  Map: {
    route: '#/map',
    facts: {
      'five tiles with figures': `[...document.querySelectorAll('.tile')].filter((t) => /\\d/.test(t.dataset.value)).length === 5`,
      'the connection table in percent': `document.querySelector('[data-fact=conntrack]').dataset.value === '43 %'`,
      'small lines': `document.querySelector('[data-fact=new] .spark').dataset.points > 100`,
      'the busiest Service': `document.querySelector('[data-service="shop/web"]') !== null || document.body.textContent.includes('shop/web:http')`,
      'rejected connections as an end': `document.body.textContent.includes('✕ rejected')`,
      'dropped connections as an end': `document.body.textContent.includes('▽ dropped')`,
      'every Service as a dot': `document.querySelector('.dots canvas').dataset.shown === '400'`,
      'how many have no endpoint': `Number(document.querySelector('b[data-state=n]').textContent) > 0`,
      'which one has no endpoint': `document.querySelector('[data-fact=attention]').textContent.includes('shop/reviews')`,
      'the selected Service with reasons': `document.querySelector('[data-endpoint="10.1.8.40:8080"]').textContent.includes('gets nothing: not ready')`,
      'what changed, by whom': `document.querySelector('.events').textContent.includes('kube-controller-manager')`,
      'an external change is marked': `document.querySelector('[data-kind=drift]').dataset.tone === 'warn'`,
      'the age of figures': `document.querySelector('[data-fact=age]').textContent.includes('open connections 4 s old')`,
    },
  },
  Services: {
    route: '#/services?q=shop',
    facts: {
      'what was found': `document.querySelectorAll('[data-list=services] a.item').length === 3`,
      'with states': `document.querySelector('[data-service="shop/reviews"]').textContent.includes('✕ no endpoint')`,
    },
  },
  'Services of one state': {
    route: '#/services?state=n',
    facts: {
      'those without an endpoint': `[...document.querySelectorAll('a.item')].every((a) => a.dataset.state === 'n') && document.querySelectorAll('a.item').length > 0`,
    },
  },
  Service: {
    route: '#/service?name=shop/web',
    facts: {
      frontends: `document.querySelectorAll('[data-frontend]').length === 3`,
      shares: `document.querySelector('[data-endpoint="10.1.0.2:8080"]').textContent.includes('30 %')`,
      reasons: `document.querySelector('[data-because="not ready"]') !== null`,
      'allowed sources': `document.body.textContent.includes('only from 172.16.0.0/12')`,
    },
  },
  Changes: {
    route: '#/changes',
    facts: {
      entries: `document.querySelectorAll('.event').length === 8`,
      'slice, version, writer and kernel': `document.querySelector('.event p').textContent === 'slice reviews-k2m9p, version 88431207, by kube-controller-manager (Update), in the kernel after 0.39 ms'`,
    },
  },
  'Path, proven': {
    route: '#/path?target=shop/web:http',
    facts: {
      code: `document.querySelector('[data-code]').dataset.code === 'REACHES'`,
      proven: `document.querySelector('[data-fact=proven]') !== null`,
      hooks: `[...document.querySelectorAll('[data-station]')].map((s) => s.dataset.station).join() === 'prerouting,routing,forward,postrouting'`,
      'a foreign rule': `document.querySelector('.stop.foreign').textContent.includes("not Fairlead's")`,
      'a line': `document.querySelectorAll('.wire .line').length > 5`,
    },
  },
  'Path, dropped': {
    route: '#/path?target=shop/web:dropped',
    facts: {
      'a cross at routing': `document.querySelector('[data-station=routing] [data-ends=dropped] .knot').textContent === '✕'`,
      'what is beyond': `document.querySelector('[data-station=postrouting]').classList.contains('is-beyond')`,
      'what would help': `document.querySelector('[data-fact=next]').textContent.includes('rp_filter')`,
    },
  },
  'Path, predicted': {
    route: '#/path?target=shop/reviews',
    facts: {
      'says predicted': `document.querySelector('[data-fact=predicted]') !== null`,
      'draws no hook': `document.querySelector('[data-station=prerouting]') === null`,
      'the end': `document.querySelector('[data-ends=rejected]') !== null`,
    },
  },
  Doctor: {
    route: '#/doctor',
    facts: {
      'the problem first': `document.querySelector('.finding').dataset.code === 'RP_FILTER'`,
      'what to do': `document.querySelector('.next').textContent.includes('rp_filter = 2')`,
      'counted in the tab': `document.querySelector('[data-tab=doctor]').textContent.includes('1')`,
    },
  },
};

describe('the page of fairlead view', () => {
  let browser: Browser;
  const view = new ScriptedView({ services: 400, mayProbe: true });
  before(async () => {
    await view.open();
    browser = await Browser.start();
  });
  after(async () => {
    await browser.stop();
    view.close();
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      for (const [name, { route, facts }] of Object.entries(SCREENS)) {
        it(`shows ${name} in ${theme} at ${width} pixels, without an error or an overflow`, async (t) => {
          const page = await openPage(t, route, { width, theme });
          for (const [what, expression] of Object.entries(facts))
            await page.until(isTrue(expression), what);
          assert.equal(await overflowOf(page), 0);
          assert.deepEqual(page.errors, []);
          assert.deepEqual(await faintTexts(page), []);
        });
      }
    }
  }

  it('is used by keys', async (t) => {
    const page = await openPage(t, '#/map', { width: 1280 });
    await page.until(`document.querySelector('.rope-box')`, 'the map');
    await page.press('/');
    await page.until(`document.activeElement.type === 'search'`, 'the focus in the search');
    await page.type('rev');
    await page.until(
      `document.querySelectorAll('[data-list=services] a.item').length === 1`,
      'one Service',
    );
    await page.press('ArrowDown');
    await page.until(
      `document.activeElement.dataset.service === 'shop/reviews'`,
      'the focus in the list',
    );
    assert.notEqual(
      await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`),
      'none',
    );
    await page.press('Enter');
    await page.until(`location.hash === '#/service?name=shop%2Freviews'`, 'the Service');
    for (const [key, screen] of [
      'map',
      'services',
      'service',
      'changes',
      'path',
      'doctor',
    ].entries()) {
      await page.press(String(key + 1));
      await page.until(
        `document.querySelector('main > [data-screen=${screen}]')`,
        `screen ${screen}`,
      );
    }
    await page.press('?');
    await page.until(`document.querySelector('dialog').open`, 'the keys');
    await page.press('Escape');
    await page.until(`!document.querySelector('dialog').open`, 'the keys to close');
  });

  it('draws one dot for a change of one, and selects it by keys', async (t) => {
    const page = await openPage(t, '#/map', { width: 1280 });
    const drawn = `Number(document.querySelector('.dots canvas').dataset.drawn)`;
    await page.until(`${drawn} >= 400`, 'the dots');
    await page.settle();
    const before = await page.evaluate<number>(drawn);
    view.change(3, 'w');
    await page.until(`document.querySelector('b[data-state=w]').textContent === '1'`, 'the change');
    assert.equal((await page.evaluate<number>(drawn)) - before, 1);
    await page.evaluate(`document.querySelector('.dots canvas').focus()`);
    await page.press('ArrowDown');
    await page.until(`document.querySelector('.dots-tip').textContent.includes('/')`, 'its name');
    await page.press('Enter');
    await page.until(`location.hash.startsWith('#/map?service=')`, 'the selection');
  });

  it('says that figures are old when the stream breaks, and reconnects', async (t) => {
    const page = await openPage(t, '#/map', { width: 1280 });
    await page.until(`document.querySelector('.rope-box')`, 'the map');
    view.close();
    await page.until(`document.querySelector('[data-banner=broken]')`, 'the banner');
    await page.until(
      `/What is shown is \\d+ s old/.test(document.querySelector('.banner').textContent)`,
      'the age',
    );
    await view.open();
    await page.until(`document.querySelector('[data-banner=none]')`, 'the stream');
    assert.deepEqual(
      page.errors.filter(({ source }) => source !== 'network'),
      [],
    );
  });

  it('waits longer before each attempt', async (t) => {
    const page = await openPage(t, '#/map', { width: 1280 });
    await page.until(`document.querySelector('.rope-box')`, 'the map');
    await page.evaluate(
      `globalThis.made = []; globalThis.EventSource = class extends EventSource { constructor(url) { super(url); made.push(performance.now()); } }; 0`,
    );
    view.close();
    await page.until(`made.length === 3`, 'three attempts');
    await view.open();
    const [first = 0, second = 0, third = 0] = await page.evaluate<number[]>('made');
    assert.ok(third - second > 1.5 * (second - first));
    await page.until(`document.querySelector('[data-banner=none]')`, 'the stream');
  });

  it('says that the agent does not answer', async (t) => {
    const page = await openPage(t, '#/map', { width: 1280 });
    await page.until(`document.querySelector('.rope-box')`, 'the map');
    view.trouble('no agent answers at /run/fairlead/status.sock');
    await page.until(
      `document.querySelector('[data-banner="agent away"]')?.textContent.includes('no agent answers')`,
      'the banner',
    );
    view.close();
    await view.open();
  });

  async function openPage(
    t: { after(end: () => Promise<void>): void },
    route: string,
    looks: { readonly width: number; readonly theme?: 'light' | 'dark' },
  ): Promise<Page> {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.look(looks);
    await page.open(`${view.url}${route}`);
    return page;
  }
});

/** False as long as an element is missing. */
function isTrue(expression: string): string {
  return `(() => { try { return ${expression}; } catch { return false; } })()`;
}
