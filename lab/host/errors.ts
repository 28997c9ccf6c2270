/**
 * What went wrong in the lab, for a program (`code`), for a reader (`message`)
 * and for the person who has to go on from here (`next`).
 */
export class LabError extends Error {
  readonly code: LabErrorCode;
  readonly next: string;

  constructor(code: LabErrorCode, message: string, options: { next: string; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LabError';
    this.code = code;
    this.next = options.next;
  }
}

export type LabErrorCode =
  | 'LAB_NOT_ROOT'
  | 'LAB_FOLDER_UNSAFE'
  | 'LAB_TOOL_MISSING'
  | 'LAB_COMMAND_FAILED'
  | 'LAB_COMMAND_TIMED_OUT'
  | 'LAB_BUILD_FAILED'
  | 'LAB_NAMESPACE'
  | 'LAB_SOCKET'
  | 'LAB_EXISTS'
  | 'LAB_NOT_FOUND'
  | 'LAB_API'
  | 'LAB_API_SILENT'
  | 'LAB_PROCESS_ENDED'
  | 'LAB_DEADLINE'
  | 'LAB_INTERRUPTED'
  | 'LAB_USAGE'
  | 'LAB_BROWSER'
  | 'LAB_TOUR';
