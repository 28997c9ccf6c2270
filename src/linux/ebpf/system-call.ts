import { constants } from 'node:os';
import koffi from 'koffi';
import type { Attr } from './attr.ts';
import type { CommandNumber } from './bpf-constants.ts';

const libc = koffi.load('libc.so.6');

// Variadic in C. All our arguments are integers and pointers, which x86-64 and arm64 pass alike
// with and without the dots.
const syscall = libc.func('long syscall(long number, int command, void *attr, unsigned int size)');
const closeFunction: (fd: number) => number = libc.func('int close(int fd)');
const readFunction = libc.func('long read(int fd, void *into, unsigned long size)');

type BpfCall = (
  ...args: [number: number, command: CommandNumber, attr: Uint8Array, size: number]
) => number;
const call = syscall as unknown as BpfCall;

/** asm/unistd.h of the architectures that we are built for. */
const NUMBERS: Readonly<Record<string, number>> = { x64: 321, arm64: 280, riscv64: 280 };

/** Not in libuv's list, but returned by the kernel where a map or hook lacks an operation. */
export const ENOTSUPP = 524;
export const Errno = constants.errno;

/** bpf(2): its result, or the negative errno. */
export function bpf(command: CommandNumber, attr: Attr): number {
  const result = bpfRaw(command, attr.bytes, attr.bytes.length);
  attr.heldBuffers();
  return result;
}

/** The same with an argument that the caller has made; its buffers are the caller's to hold. */
export function bpfRaw(command: CommandNumber, attr: Uint8Array, size: number): number {
  const result = call(systemCallNumber(), command, attr, size);
  return result < 0 ? -koffi.errno() : result;
}

/** The same on a thread of its own: for batches that take the kernel milliseconds. */
export function bpfOnThread(command: CommandNumber, attr: Attr): Promise<number> {
  return new Promise((resolve, reject) => {
    const { bytes } = attr;
    const args = [systemCallNumber(), command, bytes, bytes.length] as const;
    syscall.async(...args, (error: unknown, result: number) => {
      attr.heldBuffers();
      if (error) reject(error instanceof Error ? error : new Error(String(error)));
      // koffi keeps the errno of each call on a thread and shows it here, and only here.
      else resolve(result < 0 ? -koffi.errno() : result);
    });
  });
}

export function closeDescriptor(fd: number): void {
  closeFunction(fd);
}

/** read(2) on a thread of its own: how many bytes, or the negative number of the error. */
export function readOnThread(fd: number, into: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    readFunction.async(fd, into, into.length, (error: unknown, result: number) => {
      if (error) reject(error instanceof Error ? error : new Error(String(error)));
      // koffi does not hold on to the buffer; that it is named here does.
      else resolve(result < 0 ? -koffi.errno() : Math.min(result, into.length));
    });
  });
}

function systemCallNumber(): number {
  const number = NUMBERS[process.arch];
  if (number === undefined)
    throw new Error(`the system call bpf is not supported on ${process.arch}`);
  return number;
}
