import type { RefusedField } from '../fields/refused-fields.ts'

/** A value that the form itself refuses, named as the server would name it. */
export class InvalidField extends Error {
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.name = 'InvalidField'
    this.param = param
  }
}

/** Every value that the form itself refuses. */
export class InvalidFields extends Error {
  readonly problems: readonly RefusedField[]

  constructor(problems: readonly RefusedField[]) {
    super(problems.map(({ text }) => text).join('\n'))
    this.name = 'InvalidFields'
    this.problems = problems
  }
}
