import koffi from 'koffi';
import { openUnblocked } from '../unblocked-output.ts';

/** Writes to standard error until that fails, and prints the error on standard output. */
const STDERR = 2;
const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;
const fcntl: (fd: number, command: number, argument: number) => number = koffi
  .load('libc.so.6')
  .func('int fcntl(int fd, int command, int argument)');

// Node sets it as soon as a package imports `process`; other processes that share the pipe may
// clear it.
fcntl(STDERR, F_SETFL, fcntl(STDERR, F_GETFL, 0) & ~O_NONBLOCK);
const output = openUnblocked(STDERR);
const page = Buffer.alloc(4096, 'x');
let writtenBytes = 0;
let code: string | undefined;
while (code === undefined) {
  const result = output.write(page);
  if ('code' in result) code = result.code;
  else writtenBytes += result.writtenBytes;
}
const isNonBlocking = (fcntl(STDERR, F_GETFL, 0) & O_NONBLOCK) !== 0;
console.log(JSON.stringify({ code, writtenBytes, isNonBlocking }));
