import type { FairleadMode } from '../../../lab/proxies/fairlead-modes.ts';
import type { Got, NodeName, Question } from './question.ts';
import type { IncidentScene } from './scene.ts';

/** The answer of `fairlead explain`, and what follows from it. */
export interface ExplainExpectation {
  /** As it is typed, after `fairlead`. */
  readonly typed: string;
  /** Several only where nature is random. Undefined: an error, which has no code in its first line. */
  readonly code: string | readonly string[] | undefined;
  readonly exit: number;
  /** The first line says this. */
  readonly says: RegExp;
  /** What the first line must not say. */
  readonly saysNot?: RegExp;
  /** What no line may say. */
  readonly tellsNot?: RegExp;
  /** Names the cause: in what the command prints, in what `next` prints when it is typed, or in what doctor finds. */
  readonly cause: RegExp;
  /** How many commands it may take until the cause is named; 2 when not given. */
  readonly most?: 1;
  readonly next?: NextExpectation;
  /** The client connects again and again meanwhile. */
  readonly whileAsking?: true;
}

export interface NextExpectation {
  /** One of the lines `next` names this. */
  readonly names: RegExp;
  /** `shows`: typed, it prints the cause. `repairs`: typed, the client is answered. */
  readonly typed?: 'shows' | 'repairs';
  /** Where it is typed; node1 when not given. */
  readonly on?: NodeName;
}

/** What `fairlead doctor` finds. */
export interface DoctorExpectation {
  readonly code: string;
  /** What it says of it. */
  readonly tells?: RegExp;
  /** What its line `next` names. */
  readonly next?: RegExp;
}

/** A further command, where it is the right tool or must not contradict. */
export interface OtherExpectation {
  readonly typed: string;
  readonly tells: RegExp;
  readonly not?: RegExp;
  readonly exit?: number;
}

/** One incident: how it is produced and undone, what its client gets, and what the tools must say. */
export interface Incident {
  readonly name: string;
  /** Changes the lab, and says on `undo` how it is changed back. */
  readonly produce: (scene: IncidentScene, undo: AsyncDisposableStack) => Promise<void>;
  /** Undefined: no client can ask, because there is no address. */
  readonly client: Question | undefined;
  /** Everything that its connections got, in any order; empty without a client. */
  readonly gets: readonly Got[];
  readonly explain: ExplainExpectation;
  readonly doctor?: DoctorExpectation;
  readonly also?: readonly OtherExpectation[];
  /** Modes in which it does not apply, with the reason. */
  readonly notIn?: Readonly<Partial<Record<FairleadMode, string>>>;
}
