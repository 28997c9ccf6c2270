/** A room that was filled. */
export interface Filled {
  /** In the unit of the limit. */
  readonly to: string;
  /** Undefined: full. Otherwise why the question was not put. */
  readonly notFull?: string;
  /** Lets go of what is not in the API server: that is deleted for every bound alike. */
  readonly release: () => Promise<void> | void;
}
