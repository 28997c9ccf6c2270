import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import { Page } from './page.ts';
import { portIn } from './port-file.ts';
import { DevTools, devToolsError } from './protocol.ts';

const START_DEADLINE_MS = 60_000;

/**
 * Debian's Chromium without a window, in the network namespace of this process, with a profile of its
 * own. It runs as root, so its sandbox is off: it is for pages of the lab only.
 */
export class Browser {
  readonly #daemon: Daemon;
  readonly #folder: string;
  readonly #port: number;

  private constructor(daemon: Daemon, folder: string, port: number) {
    this.#daemon = daemon;
    this.#folder = folder;
    this.#port = port;
  }

  static async start(): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'fairlead-browser-'));
    const profile = join(folder, 'profile');
    const logFile = join(folder, 'chromium.log');
    const daemon = startDaemon({
      name: 'chromium',
      namespacePath: `/proc/${process.pid}/ns/net`,
      argv: ['chromium', ...OPTIONS, `--user-data-dir=${profile}`, 'about:blank'],
      logFile,
      env: { HOME: folder },
    });
    const portFile = join(profile, 'DevToolsActivePort');
    const port = await until(
      () => {
        const end = daemon.ended();
        if (end !== undefined) throw devToolsError(`chromium ended: ${end}\n${logOf(logFile)}`);
        return existsSync(portFile) ? portIn(readFileSync(portFile, 'utf8')) : undefined;
      },
      { what: () => `chromium to start: ${logOf(logFile)}`, deadlineMs: START_DEADLINE_MS },
    );
    return new Browser(daemon, folder, port);
  }

  async newPage(): Promise<Page> {
    const response = await fetch(this.#address('new?about:blank'), { method: 'PUT' });
    const target = (await response.json()) as { id: string; webSocketDebuggerUrl: string };
    const tools = await DevTools.connect(target.webSocketDebuggerUrl);
    return await Page.attach(tools, async () => {
      await fetch(this.#address(`close/${target.id}`));
    });
  }

  #address(path: string): string {
    return `http://127.0.0.1:${this.#port}/json/${path}`;
  }

  async stop(): Promise<void> {
    await this.#daemon.stop();
    // Its helpers may still write to the profile for a moment.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

const OPTIONS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--no-default-browser-check',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
  '--remote-debugging-port=0',
  '--window-size=1280,900',
] as const;

function logOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').slice(-2000) : '';
}
