/** A value that the form itself refuses, named as the server would name it. */
export class InvalidField extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.name = 'InvalidField'
    this.param = param
  }
}
