/** A request that the dialect or the upstream does not support; the caller must correct it. */
export class InvalidRequest extends Error {
  /** The field at fault, for example `messages[2].content`. */
  readonly param: string

  /** `message` is public. */
  constructor(param: string, message: string) {
    super(`${param}: ${message}`)
    this.name = 'InvalidRequest'
    this.param = param
  }
}
