import type { AssembledProgram } from './assemble.ts';
import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { BpfError, callFailed, errnoName } from './bpf-error.ts';
import type { FuncInfo, LineInfo } from './bpf-object.ts';
import { nameAt } from './info.ts';
import { INSTRUCTION_BYTES, NO_SUCH_HELPER } from './instruction.ts';
import { bpf, Errno } from './system-call.ts';

export interface ProgramLoad {
  readonly program: AssembledProgram;
  readonly type: number;
  readonly expectedAttachType: number;
  /** 0: attaches to no function of the kernel. */
  readonly attachTypeId: number;
  readonly license: string;
  readonly typesFd: number;
  /** BTF descriptors of the modules that it calls into. */
  readonly moduleTypeFds: readonly number[];
  /** What the program may use and this kernel lacks. */
  readonly lacking: readonly string[];
}

const FUNC_INFO_BYTES = 8;
const LINE_INFO_BYTES = 16;
const SMALLEST_LOG_BYTES = 256 * 1024;
const LARGEST_LOG_BYTES = 16 * 1024 * 1024;
/** How the verifier calls what stands where something is lacking. */
const UNKNOWN_HELPER = `unknown#${NO_SUCH_HELPER}`;
/** A signal may interrupt the verifier, which then returns EAGAIN. */
const MOST_ATTEMPTS = 5;

/** Has the kernel verify a program; a descriptor of it. */
export function loadProgram(load: ProgramLoad): number {
  const attr = programAttr(load);
  const fd = attempt(attr);
  if (fd >= 0) return fd;
  // The log makes verification several times slower, so it is asked for only now.
  const log = verifierLog(attr);
  const { name } = load.program;
  if (log === '') throw callFailed(`load the program ${name}`, fd);
  if (load.lacking.length > 0 && log.includes(UNKNOWN_HELPER)) {
    const message = `the program ${name} needs features that this kernel lacks: ${load.lacking.join(', ')}`;
    throw new BpfError('BPF_KERNEL_LACKS', message, { errno: -fd });
  }
  const { reason, source, excerpt } = readVerifierLog(log);
  const where = source === undefined ? '' : ` at \`${source}\``;
  throw new BpfError(
    'BPF_PROGRAM_REFUSED',
    `the verifier rejected the program ${name}${where}: ${reason} (${errnoName(-fd)})`,
    { errno: -fd, detail: excerpt },
  );
}

function programAttr(load: ProgramLoad): Attr {
  const { code, name, funcInfo, lineInfo } = load.program;
  const attr = new Attr()
    .u32(0, load.type)
    .u32(4, code.length / INSTRUCTION_BYTES)
    .pointer(8, code)
    .text(16, load.license)
    .name(48, name)
    .u32(68, load.expectedAttachType)
    .u32(108, load.attachTypeId);
  if (funcInfo.length > 0) {
    attr.u32(72, load.typesFd).u32(76, FUNC_INFO_BYTES).u32(88, funcInfo.length);
    attr.pointer(80, encodeFuncInfo(funcInfo));
  }
  if (lineInfo.length > 0) {
    attr.u32(72, load.typesFd).u32(92, LINE_INFO_BYTES).u32(104, lineInfo.length);
    attr.pointer(96, encodeLineInfo(lineInfo));
  }
  if (load.moduleTypeFds.length > 0) {
    // The first place is for the kernel's own types, which need no descriptor.
    attr.pointer(120, Buffer.from(Int32Array.from([0, ...load.moduleTypeFds]).buffer));
  }
  return attr;
}

function attempt(attr: Attr): number {
  let result = -Errno.EAGAIN;
  for (let tries = 0; tries < MOST_ATTEMPTS && result === -Errno.EAGAIN; tries += 1) {
    result = bpf(Command.programLoad, attr);
  }
  return result;
}

/** Loads once more with a log, larger and larger until all of it fits. */
function verifierLog(attr: Attr): string {
  for (let size = SMALLEST_LOG_BYTES; ; size *= 4) {
    const log = Buffer.alloc(size);
    const result = attempt(attr.u32(24, 1).u32(28, size).pointer(32, log));
    if (result === -Errno.ENOSPC && size < LARGEST_LOG_BYTES) continue;
    return nameAt(log, 0);
  }
}

function encodeFuncInfo(records: readonly FuncInfo[]): Buffer {
  return Buffer.from(Uint32Array.from(records.flatMap(({ at, typeId }) => [at, typeId])).buffer);
}

function encodeLineInfo(records: readonly LineInfo[]): Buffer {
  const words = records.flatMap((one) => [
    one.at,
    one.fileOffset,
    one.lineOffset,
    one.lineAndColumn,
  ]);
  return Buffer.from(Uint32Array.from(words).buffer);
}

const MOST_LINES = 24;
const STATISTICS = /^(processed \d+ insns|verification time|stack depth|mark_precise:|max_states)/;
const CODE = /^\d+: \(/;
const SOURCE = /^; /;

/** Extracts the reason from a verifier log. */
interface Rejection {
  /** Why: its last sentence. */
  readonly reason: string;
  /** The source line that it was at, if it knew. */
  readonly source: string | undefined;
  /** The last instructions, with the source lines that they are of. */
  readonly excerpt: string;
}

export function readVerifierLog(log: string): Rejection {
  const lines = log
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !STATISTICS.test(line));
  const reason = lines.findLast((line) => !CODE.test(line) && !SOURCE.test(line)) ?? '';
  const source = lines.findLast((line) => SOURCE.test(line))?.replace(SOURCE, '');
  return { reason, source, excerpt: lines.slice(-MOST_LINES).join('\n') };
}
