import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../host/until.ts';
import { type DevTools, devToolsError } from './protocol.ts';

export interface Looks {
  readonly width: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** `prefers-reduced-motion`. */
  readonly isStill?: boolean;
}

/** What went wrong on a page: exceptions, errors of the console, violations of its policy. */
export interface PageError {
  /** `network`: a request failed. */
  readonly source: string;
  readonly text: string;
}

const DEADLINE_MS = 20_000;
const KEY_CODES: Readonly<Record<string, number>> = {
  Enter: 13,
  Escape: 27,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Tab: 9,
};

/** One page of a browser. */
export class Page {
  readonly tools: DevTools;
  readonly errors: PageError[] = [];

  readonly #end: () => Promise<void>;

  private constructor(tools: DevTools, end: () => Promise<void>) {
    this.tools = tools;
    this.#end = end;
  }

  /** `end` closes it in the browser. */
  static async attach(tools: DevTools, end: () => Promise<void>): Promise<Page> {
    const page = new Page(tools, end);
    tools.on('Runtime.exceptionThrown', (event) => {
      const { exceptionDetails } = event as {
        exceptionDetails: { text: string; exception?: { description?: string } };
      };
      const { text, exception } = exceptionDetails;
      page.errors.push({ source: 'exception', text: exception?.description ?? text });
    });
    tools.on('Log.entryAdded', (event) => {
      const { entry } = event as { entry: { level: string; source: string; text: string } };
      if (entry.level === 'error') page.errors.push({ source: entry.source, text: entry.text });
    });
    tools.on('Runtime.consoleAPICalled', (event) => {
      const { type, args } = event as { type: string; args: { value?: unknown }[] };
      if (type !== 'error') return;
      page.errors.push({ source: 'console', text: args.map(({ value }) => value).join(' ') });
    });
    for (const domain of ['Runtime', 'Log', 'Page']) await tools.call(`${domain}.enable`);
    return page;
  }

  async open(url: string): Promise<void> {
    await this.tools.call('Page.navigate', { url });
    await this.until('document.readyState === "complete"', 'the page to load');
  }

  /** The value of an expression in the page, as JSON has it. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.tools.call<{
      result: { value: T };
      exceptionDetails?: { exception?: { description?: string } };
    }>('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails === undefined) return answer.result.value;
    const why = answer.exceptionDetails.exception?.description ?? 'no reason';
    throw devToolsError(`${expression} failed: ${why}`);
  }

  /** Resolves when the expression is true in the page. */
  async until(expression: string, what: string, deadlineMs = DEADLINE_MS): Promise<void> {
    await until(async () => await this.evaluate<boolean>(`Boolean(${expression})`), {
      what,
      deadlineMs,
      everyMs: 30,
    });
  }

  async look({ width, height = 900, theme = 'light', isStill = true }: Looks): Promise<void> {
    await this.tools.call('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await this.tools.call('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: theme },
        { name: 'prefers-reduced-motion', value: isStill ? 'reduce' : 'no-preference' },
      ],
    });
    await this.settle();
  }

  /** Two frames later everything that was asked for is laid out. */
  async settle(): Promise<void> {
    await this.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))');
    await delay(20);
  }

  async press(key: string): Promise<void> {
    const code = KEY_CODES[key];
    const isText = key.length === 1;
    const of = {
      key,
      ...(code === undefined ? {} : { windowsVirtualKeyCode: code, code: key }),
      ...(isText || key === 'Enter' ? { text: key === 'Enter' ? '\r' : key } : {}),
    };
    await this.tools.call('Input.dispatchKeyEvent', { type: 'keyDown', ...of });
    await this.tools.call('Input.dispatchKeyEvent', { type: 'keyUp', key });
  }

  async type(text: string): Promise<void> {
    for (const key of text) await this.press(key);
  }

  /** A PNG of the whole page, or of its first pixels. */
  async picture({ mostHeight = 4000 }: { readonly mostHeight?: number } = {}): Promise<Buffer> {
    const { width, height } = await this.evaluate<{ width: number; height: number }>(
      '({ width: innerWidth, height: document.documentElement.scrollHeight })',
    );
    const clip = { x: 0, y: 0, width, height: Math.min(height, mostHeight), scale: 1 };
    const { data } = await this.tools.call<{ data: string }>('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: true,
      clip,
    });
    return Buffer.from(data, 'base64');
  }

  async close(): Promise<void> {
    this.tools.close();
    await this.#end();
  }
}
