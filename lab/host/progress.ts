import { styleText } from 'node:util';

/** Tells a person what is going on. Every step that can take over a second goes through one. */
export interface Progress {
  step<T>(title: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T>;
}

export const silentProgress: Progress = {
  step: (_title, work) => work(() => undefined),
};

const REDRAW_MS = 200;
/** In a log, a long step says how far it is so often. */
const LOG_MS = 30_000;

/** One line a step on standard error: what, and how long it took; live on a terminal. */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return {
    async step(title, work) {
      const startedAt = performance.now();
      let detail = '';
      const seconds = (): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
      const draw = (): void => {
        const line = `  … ${title}  ${seconds()}  ${detail}`;
        stream.write(`\r\x1b[2K${line.slice(0, stream.columns - 1)}`);
      };
      const log = (): void => {
        if (detail !== '') stream.write(`    ${seconds()}  ${detail}\n`);
      };
      const timer = stream.isTTY ? setInterval(draw, REDRAW_MS) : setInterval(log, LOG_MS);
      if (!stream.isTTY) stream.write(`  … ${title}\n`);
      const finish = (mark: string): void => {
        clearInterval(timer);
        if (stream.isTTY) stream.write('\r\x1b[2K');
        stream.write(`  ${mark} ${title}  ${seconds()}\n`);
      };
      try {
        const result = await work((text) => {
          detail = text.trim().split('\n').at(-1) ?? '';
        });
        finish(styleText('green', '✓', { stream }));
        return result;
      } catch (error) {
        finish(styleText('red', '✗', { stream }));
        throw error;
      }
    },
  };
}
