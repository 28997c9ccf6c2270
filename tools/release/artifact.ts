/** A file of the release. */
export interface Artifact {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly isExecutable?: boolean;
}
