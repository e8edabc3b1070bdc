/** A fault of the database's surroundings, told in one line that says what to do. */
export class DatabaseProblem extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseProblem'
  }
}
