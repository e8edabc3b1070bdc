/**
 * Describes invalid values for the person who wrote them, instead of a schema library's own phrases
 * ("expected array to have >=1 items"). Passed to every parse as its error map; messages set in a
 * schema take precedence.
 */

/** The parts of a zod issue used here. */
export interface Problem {
  readonly code?: string | undefined
  readonly input?: unknown
  /** The expected kind of value. */
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
  /** For a union: the issues of each alternative. */
  readonly errors?: readonly (readonly FieldProblem[])[]
}

export interface FieldProblem {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
}

const NOUNS: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  date: 'a time in ISO 8601',
  datetime: 'a time in ISO 8601',
  email: 'an e-mail address such as kim@example.com',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
  stringbool: 'true or false',
  url: 'an address such as https://example.com',
}

/** A zod error map. Returns undefined to keep the library's message. */
export function describeProblem(problem: Problem): string | undefined {
  const { code, input, expected = '', format = '', keys = [] } = problem
  switch (code) {
    case 'invalid_type':
      return input === undefined ? 'required' : mustBe(expected)
    case 'too_small':
      return describeBound('least', problem.minimum, problem)
    case 'too_big':
      return describeBound('most', problem.maximum, problem)
    case 'invalid_value':
      return mustBe(expected) ?? describeValues(problem)
    case 'invalid_format':
      return mustBe(format)
    case 'unrecognized_keys':
      return `unknown field ${keys.map((key) => `'${key}'`).join(', ')}`
    case 'invalid_union':
      return describeUnion(problem)
    default:
      return undefined
  }
}

function mustBe(kind: string): string | undefined {
  const noun = NOUNS[kind]
  return noun && `must be ${noun}`
}

function describeValues({ input, values = [] }: Problem): string {
  if (input === undefined) return 'required'
  const shown = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
  return shown.length === 1 ? `must be ${shown[0]}` : `must be one of ${shown.join(', ')}`
}

const COUNTED: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

function describeBound(
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

/** Lists all accepted kinds. */
function describeUnion({ input, errors = [] }: Problem): string | undefined {
  if (input === undefined) return 'required'
  const [first, ...others] = errors.flatMap(([found]) => found?.message ?? [])
  if (first === undefined) return undefined
  return [first, ...others.map((other) => other.replace(/^must be /, ''))].join(' or ')
}

/**
 * Locates a problem inside a union: in the alternative that fits furthest into the value, if there
 * is exactly one, instead of at the union itself.
 */
export function locateProblem({
  path,
  message,
  errors = [],
}: Problem & FieldProblem): FieldProblem {
  const firsts = errors.flatMap(([first]) => (first && first.path.length > 0 ? [first] : []))
  const furthest = firsts.filter((one) => firsts.every((other) => compareReach(one, other) >= 0))
  const [inner, another] = furthest
  if (!inner || another) return { path, message }
  return { path: [...path, ...inner.path], message: inner.message }
}

/** Returns more than 0 if `one` fits further into the value, 0 if that is not known. */
function compareReach(one: FieldProblem, other: FieldProblem): number {
  const at = one.path.findIndex((step, index) => step !== other.path[index])
  const [step, otherStep] = [one.path[at], other.path[at]]
  if (typeof step === 'number' && typeof otherStep === 'number') return step - otherStep
  const isInside = at === -1 || otherStep === undefined
  if (!isInside) return 0
  return one.path.length - other.path.length || rankKind(one) - rankKind(other)
}

/** A value of the wrong kind fits less than one that breaks a rule of its kind. */
function rankKind({ code }: FieldProblem): number {
  return code === 'invalid_type' ? 0 : 1
}
