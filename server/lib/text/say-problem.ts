/**
 * What is wrong with a value, in words for whoever wrote it: the sentences of a schema library
 * speak of schemas ("expected array to have >=1 items"). Given to every parse as its error map; a
 * schema's own words come first.
 */

/** What zod knows of a problem, as far as it is told here. */
export interface Problem {
  readonly code?: string | undefined
  readonly input?: unknown
  /** The kind of value that was due. */
  readonly expected?: string
  /** The kind of value that is too small or too big. */
  readonly origin?: string
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly inclusive?: boolean
  readonly exact?: boolean
  readonly format?: string
  readonly values?: readonly unknown[]
  readonly keys?: readonly string[]
  /** Of a union: what each alternative found. */
  readonly errors?: readonly (readonly FieldProblem[])[]
}

export interface FieldProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

const NOUNS: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  date: 'a time in ISO 8601',
  datetime: 'a time in ISO 8601',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
  stringbool: 'true or false',
  url: 'an address such as https://example.com',
}

/** A zod error map. Undefined leaves the sentence to the library. */
export function sayProblem(problem: Problem): string | undefined {
  const { code, input, expected = '', format = '', keys = [] } = problem
  switch (code) {
    case 'invalid_type':
      return input === undefined ? 'required' : mustBe(expected)
    case 'too_small':
      return sayBound('least', problem.minimum, problem)
    case 'too_big':
      return sayBound('most', problem.maximum, problem)
    case 'invalid_value':
      return mustBe(expected) ?? sayValues(problem)
    case 'invalid_format':
      return mustBe(format)
    case 'unrecognized_keys':
      return `unknown field ${keys.map((key) => `'${key}'`).join(', ')}`
    case 'invalid_union':
      return sayUnion(problem)
    default:
      return undefined
  }
}

function mustBe(kind: string): string | undefined {
  const noun = NOUNS[kind]
  return noun && `must be ${noun}`
}

function sayValues({ input, values = [] }: Problem): string {
  if (input === undefined) return 'required'
  const shown = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
  return shown.length === 1 ? `must be ${shown[0]}` : `must be one of ${shown.join(', ')}`
}

const COUNTED: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

function sayBound(
  side: 'least' | 'most',
  bound: number | bigint | undefined,
  { origin = '', inclusive = true, exact }: Problem,
): string {
  const units = COUNTED[origin]
  if (!units) {
    if (inclusive) return `must be at ${side} ${bound}`
    return `must be ${side === 'least' ? 'more' : 'less'} than ${bound}`
  }
  if (side === 'least' && bound === 1 && !exact) return 'must not be empty'
  const count = `${bound} ${units}${bound === 1 ? '' : 's'}`
  return `must have ${exact ? 'exactly' : `at ${side}`} ${count}`
}

/** All kinds that it may be of. */
function sayUnion({ input, errors = [] }: Problem): string | undefined {
  if (input === undefined) return 'required'
  const [first, ...others] = errors.flatMap(([found]) => found?.message ?? [])
  if (first === undefined) return undefined
  return [first, ...others.map((other) => other.replace(/^must be /, ''))].join(' or ')
}

/**
 * The same problem where it lies: in the alternative of a union that is of the right kind, when
 * there is just one, instead of at the union as a whole.
 */
export function locateProblem({
  path,
  message,
  errors = [],
}: Problem & FieldProblem): FieldProblem {
  const firsts = errors.flatMap(([first]) => first ?? [])
  const [inner, another] = firsts.filter((found) => found.path.length > 0)
  if (!inner || another) return { path, message }
  return { path: [...path, ...inner.path], message: inner.message }
}
