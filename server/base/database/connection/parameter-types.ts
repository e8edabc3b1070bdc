/**
 * Types of parameters, which are the same in every session. The client (postgres 3.4) asks the
 * server for them at the first run of a statement in each session, a round trip more than is
 * needed: here a process asks once, and later sessions use the answer.
 */
import type { Sql } from 'postgres'
import { readErrorCode } from '../unavailable.ts'

/** The client's record of a statement. It writes the types that it receives into this list. */
interface Described {
  readonly types: number[]
}

/** The members of the client's statements that are used here; none of them is documented. */
interface ClientStatement extends PromiseLike<unknown> {
  /** False if the statement is not prepared. */
  readonly signature: string | false
  readonly onlyDescribe?: unknown
  describeFirst: unknown
  [STATEMENT]: Described | null
}

const STATEMENT = Symbol('statement')
/**
 * The limit of remembered texts. They may depend on the columns of a request, but the statements of
 * calls are remembered early.
 */
const STATEMENTS_MAX = 2_000
/** SQLSTATEs of values and operators of the wrong type, and of changed result types. */
const WRONG_TYPE = /^(22|42|0A)/

/** The lists by signature; a type that is not known yet is 0. */
const known = new Map<string, number[]>()

/**
 * Makes the client's statements use known types. The client sets `statement` after it has decided
 * to ask for types and before it writes, so this property is replaced once for all statements.
 */
export function shareParameterTypes(sql: Sql): void {
  const prototype = Object.getPrototypeOf(sql.unsafe(''))
  if (Object.hasOwn(prototype, 'statement')) return
  Object.defineProperty(prototype, 'statement', {
    get(this: ClientStatement): Described | null {
      return this[STATEMENT]
    },
    set(this: ClientStatement, described: Described | null) {
      this[STATEMENT] = described
      if (described) takeKnown(this, described)
    },
  })
}

function takeKnown(statement: ClientStatement, { types }: Described): void {
  const { signature } = statement
  if (!statement.describeFirst || statement.onlyDescribe || !signature) return
  const found = known.get(signature)
  if (!found?.every((type) => type !== 0)) {
    if (found || known.size < STATEMENTS_MAX) known.set(signature, types)
    return
  }
  types.splice(0, types.length, ...found)
  statement.describeFirst = false
  // A column's type may have changed, so the next run asks again.
  statement.then(undefined, (error: unknown) => {
    if (WRONG_TYPE.test(readErrorCode(error))) known.delete(signature)
  })
}
