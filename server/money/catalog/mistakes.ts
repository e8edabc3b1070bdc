/** Mistakes of catalog files and settings, with the file and the path of each. */
import type { ZodError } from 'zod'
import { locateProblem } from '../../base/lib/text/describe-problem.ts'
import { formatPath } from './environment.ts'

/** A mistake in a catalog file, for example `models[3].prices[0].amount: must be …`. */
export interface Mistake {
  readonly file: string
  readonly path: string
  readonly problem: string
  /** The name of a new entry is in use. */
  readonly isTaken?: true
}

/** Returns the problems that zod found as mistakes of the file. */
export function describeFileProblems(
  file: string,
  error: ZodError,
  prefix: readonly PropertyKey[] = [],
) {
  return error.issues.flatMap((issue): Mistake[] => {
    const found = locateProblem(issue)
    const path = [...prefix, ...found.path]
    if (issue.code === 'unrecognized_keys') {
      const problem = 'unknown field'
      return issue.keys.map((key) => ({ file, path: formatPath([...path, key]), problem }))
    }
    return [{ file, path: formatPath(path), problem: found.message }]
  })
}
