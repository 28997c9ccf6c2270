import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { it } from 'node:test';
import { Screen } from './terminal-screen.ts';

/** Collects what is written. */
class Terminal extends EventEmitter {
  columns = 80;
  rows = 5;
  written = '';

  write(text: string): void {
    this.written += text;
  }

  taken(): string {
    const { written } = this;
    this.written = '';
    return written;
  }
}

it('draws on the alternate screen, and gives the terminal back as it was', () => {
  const terminal = new Terminal();
  {
    using screen = new Screen(terminal, () => ['one', 'two']);
    screen.enter();
    assert.equal(terminal.taken(), '\x1b[?1049h\x1b[?25l');
    screen.draw();
    assert.equal(terminal.taken(), '\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J');
  }
  assert.equal(terminal.taken(), '\x1b[?25h\x1b[?1049l');
  assert.equal(terminal.listenerCount('resize'), 0);
});

it('never writes into the last row, where the terminal would scroll', () => {
  const terminal = new Terminal();
  using screen = new Screen(terminal, () => Array.from({ length: 9 }, String));
  screen.draw();
  assert.equal(terminal.taken().split('\r\n').length - 1, 4);
});

it('draws again when the terminal is resized, for its new size', () => {
  const terminal = new Terminal();
  using screen = new Screen(terminal, () => [`${screen.columns} columns`]);
  screen.enter();
  terminal.taken();
  terminal.columns = 33;
  terminal.emit('resize');
  assert.match(terminal.taken(), /33 columns/);
});
