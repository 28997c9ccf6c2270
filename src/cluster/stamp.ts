/** Which version of an object an event is about, and who wrote it, as the API server recorded it. */
export interface Stamp {
  /** Empty: not known, such as for an object that a new list does not have any more. */
  readonly resourceVersion: string;
  /**
   * The last writer. Several if they wrote in the same second, which is as exact as the API server
   * records it; empty if it recorded none. Of a deleted object the last writer is not who deleted it.
   */
  readonly writers: readonly Writer[];
}

export interface Writer {
  /** By default the name of the program, such as `kubectl-edit`; any client can set it. */
  readonly manager: string;
  /** `Update` or `Apply`. */
  readonly operation: string;
  /** Such as `status`; empty: the object itself. */
  readonly subresource: string;
  /** By the clock of the API server, in milliseconds since 1970, whole seconds. */
  readonly atMs: number;
}
