import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { KernelTypes, openModuleTypes } from './kernel-types.ts';
import { closeDescriptor } from './system-call.ts';

test('opens the types of the kernel or of a module by its name', () => {
  // The kernel lists its own types beside those of its modules, by the name vmlinux.
  const fd = openModuleTypes('vmlinux');
  assert.ok(fd > 2);
  closeDescriptor(fd);
  assert.throws(() => openModuleTypes('fairlead_none'), { code: 'BPF_KERNEL_LACKS' });
});

test('finds kernel functions, and no others', () => {
  const kernel = new KernelTypes();
  assert.equal(kernel.kernelFunction('bpf_sock_destroy')?.module, undefined);
  assert.ok((kernel.kernelFunction('bpf_sock_destroy')?.typeId ?? 0) > 1000);
  assert.equal(kernel.kernelFunction('fairlead_none'), undefined);
});

test('reports a kernel without BTF, with the next step', () => {
  const empty = mkdtempSync(join(tmpdir(), 'fairlead-no-types-'));
  try {
    assert.throws(() => new KernelTypes(empty).kernelFunction('bpf_sock_destroy'), {
      code: 'BPF_KERNEL_LACKS',
      next: /CONFIG_DEBUG_INFO_BTF/,
    });
  } finally {
    rmSync(empty, { recursive: true });
  }
});
