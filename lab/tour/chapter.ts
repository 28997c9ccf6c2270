import type { KernelPart } from '../host/kernel-parts.ts';
import type { Lab } from '../lab.ts';
import type { TourProgram } from './programs.ts';
import type { SectionId } from './texts.ts';

/** What a chapter says about itself. */
export interface ChapterText {
  /** What a person types: `npm run lab -- tour NAME`. */
  readonly name: string;
  readonly title: string;
  /** What the reader knows at the end, in one sentence. */
  readonly learn: string;
  /** Sections of the texts that it repeats. */
  readonly repeats: readonly SectionId[];
  /** Without these the chapter needs another kernel. */
  readonly kernelParts?: readonly KernelPart[];
  /** Programs of Debian beside those of the lab. */
  readonly programs?: readonly TourProgram[];
}

/** An experiment that runs in a lab of its own, tells what happens, and fails if it does not happen. */
export interface Chapter extends ChapterText {
  /** One of lab/network/variants; plain when not given. */
  readonly network?: string;
  play(stage: Stage): Promise<void>;
}

/** One that needs kubelets: pods come from controllers, the proxy is a DaemonSet. */
export interface RealChapter extends ChapterText {
  /** One of lab/real/proxies. */
  readonly realProxy: string;
  play(stage: Acts): Promise<void>;
}

export type AnyChapter = Chapter | RealChapter;

export interface CommandOptions {
  /** The exit code that it must have; 0 when not given. */
  readonly exits?: number;
  /** What that exit code shows, told behind the output. */
  readonly shows?: string;
  /** Which lines of the output are told; all when not given. */
  readonly keep?: (line: string) => boolean;
}

/** What every chapter acts with. Every call tells the reader what it does. */
export interface Acts {
  say(text: string): void;
  /** The first row is the heading. */
  table(rows: readonly (readonly string[])[]): void;
  /** Runs a line of shell on a host; gives its standard output. */
  on(host: string, typed: string, options?: CommandOptions): Promise<string>;
  kubectl(typed: string, options?: CommandOptions): Promise<string>;
  /** Waits, without telling, until a command succeeds: what a person does by trying again. */
  untilAnswers(host: string, typed: string): Promise<void>;
  /** Fails the chapter if it does not hold. */
  check(fact: string, holds: boolean): void;
}

export interface Stage extends Acts {
  readonly lab: Lab;
  /** A command of Fairlead on a host where its agent runs. */
  fairlead(host: string, typed: string, options?: CommandOptions): Promise<string>;
  /** Captures packets on a host while something happens; gives what it printed. */
  tcpdump(host: string, typed: string, meanwhile: () => Promise<void>): Promise<string>;
}
