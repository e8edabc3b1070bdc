/** A problem with the database's environment, with a one-line message that says what to do. */
export class DatabaseProblem extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseProblem'
  }
}
