import { effectiveCapabilities } from '../linux/capabilities.ts';
import { findOnPath } from '../linux/find-on-path.ts';
import { FEATURE_TEXT, type KernelFeature, missingFeatures } from '../linux/kernel-features.ts';
import type { ModeAbout } from './subject.ts';

/** Whether a mode could run here. */
export interface Preflight {
  readonly mode: string;
  /** What it needs and this machine, or this process, lacks; for people. Empty: it can run. */
  readonly missing: readonly string[];
}

export interface Machine {
  readonly capabilities: ReadonlySet<string>;
  readonly lacking: ReadonlySet<KernelFeature>;
  readonly hasProgram: (name: string) => boolean;
}

/** What this process and this kernel have. */
export async function readMachine(): Promise<Machine> {
  return {
    capabilities: effectiveCapabilities(),
    lacking: await missingFeatures(),
    hasProgram: (name) => findOnPath(name) !== undefined,
  };
}

/** For every mode what it needs and the machine lacks. */
export function preflightOf(modes: readonly ModeAbout[], machine: Machine): readonly Preflight[] {
  return modes.map(({ name, kernel, programs, capabilities }) => ({
    mode: name,
    missing: [
      ...kernel.filter((each) => machine.lacking.has(each)).map((each) => FEATURE_TEXT[each]),
      ...(programs.length === 0 || programs.some(machine.hasProgram)
        ? []
        : [`the program ${programs.join(' or ')}`]),
      ...capabilities
        .filter((each) => !machine.capabilities.has(each))
        .map((each) => `CAP_${each}`),
    ],
  }));
}
