import type {
  ChangesAnswer,
  DoctorAnswer,
  Dots,
  Hello,
  NodeAbout,
  PathAnswer,
  SearchAnswer,
  ServiceAnswer,
} from './protocol.ts';

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
  changes(of: {
    readonly before: number | undefined;
    readonly service: string | undefined;
  }): Promise<ChangesAnswer>;
  path(question: PathQuestion): Promise<PathAnswer>;
  doctor(): Promise<DoctorAnswer>;
}
