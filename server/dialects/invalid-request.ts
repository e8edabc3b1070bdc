/** A request that a dialect cannot read or an upstream cannot be asked: the caller's to mend. */
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
