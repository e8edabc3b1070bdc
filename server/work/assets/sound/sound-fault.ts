/** The reason why a recording was not converted. */

export class SoundFault extends Error {
  /** For the record of the task. */
  readonly code: string
  /** True if the same recording may be converted later. */
  readonly mayPass: boolean

  /** `message` is shown to the caller, and names no detail of this machine. */
  constructor(
    code: 'not_converted' | 'not_downloaded' | 'file_too_large' | 'recording_too_long',
    message: string,
    { mayPass = false, cause }: { readonly mayPass?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.mayPass = mayPass
  }
}
