import type { ChangesAnswer } from './protocol/changes-answer.ts';
import type { DoctorAnswer } from './protocol/doctor-answer.ts';
import type { Dots, SearchAnswer } from './protocol/dots-answer.ts';
import type { NodeAbout } from './protocol/node-hello.ts';
import type { PathAnswer } from './protocol/path-answer.ts';
import type { ServiceAnswer } from './protocol/service-page.ts';
import type { Hello } from './protocol/tick.ts';

export interface PathQuestion {
  readonly target: string;
  readonly from: string | undefined;
  readonly probe: 'dry' | 'syn' | 'connect' | 'none';
}

/** Everything that the page may ask for. */
export interface ViewData {
  node(): Promise<NodeAbout>;
  hello(): Promise<Hello>;
  dots(): Promise<Dots>;
  search(query: string): Promise<SearchAnswer>;
  /** Undefined: there is no such Service. */
  service(name: string): Promise<ServiceAnswer | undefined>;
  changes(asked: {
    readonly before: number | undefined;
    readonly service: string | undefined;
  }): Promise<ChangesAnswer>;
  path(question: PathQuestion): Promise<PathAnswer>;
  doctor(): Promise<DoctorAnswer>;
}
