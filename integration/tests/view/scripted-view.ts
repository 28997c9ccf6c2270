import { EventStreams } from '../../../src/wings/view/event-streams.ts';
import { pageFolder, readPageFiles } from '../../../src/wings/view/page-files.ts';
import type { DotState } from '../../../src/wings/view/protocol/dots-answer.ts';
import type { ViewTick } from '../../../src/wings/view/protocol/tick.ts';
import { openViewServer } from '../../../src/wings/view/server.ts';
import { ScriptedNode, type ScriptOptions } from './scripted-node.ts';

const TICK_MS = 1000;
const TOKEN = 'scripted';

/** The real server of `fairlead view` with figures of a scripted node. */
export class ScriptedView {
  readonly node: ScriptedNode;
  readonly #streams = new EventStreams({ streams: 8, unreadBytes: 4_000_000 });
  #end = new AbortController();
  #port = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #mayProbe: boolean;

  constructor(options: ScriptOptions) {
    this.node = new ScriptedNode(options);
    this.#mayProbe = options.mayProbe ?? false;
  }

  /** Signs in and leads to the page; a route may follow. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/?token=${TOKEN}`;
  }

  async open(): Promise<void> {
    this.#end = new AbortController();
    const folder = pageFolder();
    if (folder === undefined) throw new TypeError('the files of the page are missing');
    const site = { files: readPageFiles(folder), data: this.node, mayProbe: this.#mayProbe };
    const { port } = await openViewServer(
      {
        port: this.#port,
        token: TOKEN,
        site,
        streams: this.#streams,
        onFollow: async () => ({ event: 'hello', json: JSON.stringify(await this.node.hello()) }),
        onProblem: (error) => {
          throw error;
        },
      },
      this.#end.signal,
    );
    this.#port = port;
    this.#timer = setInterval(() => this.send(this.node.tick()), TICK_MS);
  }

  send(tick: ViewTick): void {
    this.#streams.send('tick', JSON.stringify(tick));
  }

  change(index: number, state: DotState): void {
    this.send(this.node.tick([[index, state]]));
  }

  trouble(message: string): void {
    clearInterval(this.#timer);
    this.#streams.send(
      'trouble',
      JSON.stringify({ code: 'STATUS_UNREACHABLE', message, next: 'start the agent' }),
    );
  }

  /** The port stays the same when it is opened again. */
  close(): void {
    clearInterval(this.#timer);
    this.#end.abort();
  }
}
