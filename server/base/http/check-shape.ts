/** Validates input against a schema; errors name the field in the caller's notation. */
import type { ZodType, z } from 'zod'
import { type FieldFault, invalidField, invalidFields } from '../lib/errors.ts'
import { isTooDeep } from '../lib/json.ts'
import {
  describeProblem,
  type FieldProblem,
  locateProblem,
  type Problem,
} from '../lib/text/describe-problem.ts'
import { findUnstorable } from '../lib/text/well-formed.ts'

export type Checked<Value> =
  | { readonly value: Value }
  /** The first invalid field, for example `messages[0].role`; empty for the whole value. */
  | FieldFault

/**
 * Only one problem is reported, so a list is read only up to its first wrong entry. The library's
 * types omit this option; tests/endpoints/first-problem.test.ts shows that it works.
 */
const READING = { error: describeProblem, abortEarly: true }

export function readShape<Schema extends ZodType>(
  schema: Schema,
  value: unknown,
): Checked<z.output<Schema>> {
  const parsed = schema.safeParse(value, READING)
  if (parsed.success) return { value: parsed.data }
  return describeIssue(parsed.error.issues[0])
}

type Issue = z.core.$ZodIssue

function describeIssue(issue: Issue | undefined): FieldFault {
  if (!issue) return { param: '', problem: 'invalid' }
  if (issue.code === 'unrecognized_keys') {
    return {
      param: printPath([...issue.path, ...issue.keys.slice(0, 1)]),
      problem: 'unknown field',
    }
  }
  const { path, message } = locateProblem(issue as Problem & FieldProblem)
  return { param: printPath(path), problem: message }
}

/** Further problems are omitted. */
const FAULTS_MAX = 20

/**
 * Returns the parsed value. Throws 400 with all invalid fields, for forms; the value must be small.
 */
export function checkForm<Schema extends ZodType>(schema: Schema, value: unknown) {
  const parsed = schema.safeParse(value, { error: describeProblem })
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.slice(0, FAULTS_MAX).map(describeIssue)
  throw invalidFields(faults.map(({ param, problem }) => ({ param: param || 'body', problem })))
}

/** Returns the parsed value. Throws 400; `whole` names the value if no field is at fault. */
export function checkShape<Schema extends ZodType>(
  schema: Schema,
  value: unknown,
  whole = 'body',
): z.output<Schema> {
  const checked = readShape(schema, value)
  if ('value' in checked) return checked.value
  throw invalidField(checked.param || whole, checked.problem)
}

/** Validates the query of a URL, using each name's last value. */
export function checkQuery<Schema extends ZodType>(schema: Schema, query: URLSearchParams) {
  return checkShape(schema, Object.fromEntries(query), 'query')
}

/** Throws 400 for a value nested too deeply, or with the field whose text cannot be stored. */
export function refuseUnstorable(value: unknown, whole: string): void {
  if (isTooDeep(value)) throw invalidField(whole, 'is nested too deeply')
  const found = findUnstorable(value)
  if (found) throw invalidField(printPath(found.path) || whole, found.problem)
}

function printPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((printed, step) => {
    if (typeof step === 'number') return `${printed}[${step}]`
    return `${printed}${printed ? '.' : ''}${String(step)}`
  }, '')
}
