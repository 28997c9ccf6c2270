import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { BpfError, succeeded } from './bpf-error.ts';
import { Btf, BtfKind } from './btf.ts';
import { nameAt, readInfo } from './info.ts';
import { bpf, closeDescriptor, Errno } from './system-call.ts';

const FOLDER = '/sys/kernel/btf';
const KERNEL = 'vmlinux';
const INFO_BYTES = 64;
const MODULE_NAME_BYTES = 64;

export interface KernelType {
  readonly btf: Btf;
  readonly typeId: number;
  /** Undefined: the kernel itself. */
  readonly module: string | undefined;
}

/** The types of the running kernel and of its modules, read on first use. */
export class KernelTypes {
  readonly #folder: string;
  readonly #read = new Map<string, Btf>();
  readonly #named = new Map<string, readonly KernelType[]>();

  constructor(folder: string = FOLDER) {
    this.#folder = folder;
  }

  /** Of the kernel first, then of every module. */
  *#all(): Generator<{ readonly btf: Btf; readonly module: string | undefined }> {
    yield { btf: this.#types(KERNEL), module: undefined };
    for (const module of readdirSync(this.#folder).sort()) {
      if (module !== KERNEL) yield { btf: this.#types(module), module };
    }
  }

  /** Types of this kind and name: the kernel's own, else those of the modules. */
  named(kind: number, name: string): readonly KernelType[] {
    const key = `${kind} ${name}`;
    const known = this.#named.get(key);
    if (known) return known;
    const found: KernelType[] = [];
    let kernelHasIt = false;
    for (const { btf, module } of name === '' ? [] : this.#all()) {
      if (module !== undefined && kernelHasIt) break;
      found.push(...[...btf.findAll(kind, name)].map((typeId) => ({ btf, typeId, module })));
      kernelHasIt ||= module === undefined && found.length > 0;
    }
    this.#named.set(key, found);
    return found;
  }

  kernelFunction(name: string): KernelType | undefined {
    const [found] = this.named(BtfKind.function, name);
    return found;
  }

  #types(name: string): Btf {
    const known = this.#read.get(name);
    if (known) return known;
    const base = name === KERNEL ? undefined : this.#types(KERNEL);
    const btf = new Btf(readTypes(join(this.#folder, name)), base);
    this.#read.set(name, btf);
    return btf;
  }
}

function readTypes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new BpfError('BPF_KERNEL_LACKS', `this kernel has no BTF: cannot read ${path}`, {
      cause,
      next: 'use a kernel built with CONFIG_DEBUG_INFO_BTF, or another mode',
    });
  }
}

/** A descriptor of a module's types, which a program that calls into the module must bring. */
export function openModuleTypes(module: string): number {
  const attr = new Attr();
  for (let id = 0; ; id = attr.readU32(4)) {
    const next = bpf(Command.btfNextId, attr.u32(0, id));
    if (next === -Errno.ENOENT) break;
    succeeded('list the BTF objects of the kernel', next);
    const fd = bpf(Command.btfById, new Attr().u32(0, attr.readU32(4)));
    if (fd === -Errno.ENOENT) continue;
    succeeded('open a BTF object of the kernel', fd);
    if (moduleName(fd) === module) return fd;
    closeDescriptor(fd);
  }
  throw new BpfError('BPF_KERNEL_LACKS', `the kernel module ${module} is not loaded`, {
    next: `load it: modprobe ${module}`,
  });
}

/** Empty for types that a program brought. */
function moduleName(fd: number): string {
  const name = Buffer.alloc(MODULE_NAME_BYTES);
  const info = Buffer.alloc(INFO_BYTES);
  const pointer = new Attr().pointer(0, name);
  pointer.bytes.copy(info, 16, 0, 8);
  info.writeUInt32LE(name.length, 24);
  readInfo('types', fd, info);
  pointer.heldBuffers();
  const ofKernel = info.readUInt32LE(28) === 1;
  return ofKernel ? nameAt(name, 0) : '';
}
