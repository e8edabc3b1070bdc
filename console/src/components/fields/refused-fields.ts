/** The fields of a form that were refused, and why. */
import { createContext, useContext } from 'react'

export interface RefusedField {
  /** The server's name of the field, for example `prices[0].amount`. */
  readonly param: string
  readonly text: string
}

export const RefusedFieldsContext = createContext<readonly RefusedField[]>([])

/**
 * Returns a function with the first refusal that names a field or a part of it; with `isExact`, the
 * field alone: the name of one model can begin with that of another, `gpt-5.1` with `gpt-5`.
 */
export function useFieldErrors(): (param: string, isExact?: boolean) => string | undefined {
  const refused = useContext(RefusedFieldsContext)
  return (param, isExact = false) =>
    refused.find((one) => (isExact ? one.param === param : names(one.param, param)))?.text
}

function names(refused: string, param: string): boolean {
  return refused.startsWith(param) && /^$|^[.[]/.test(refused.slice(param.length))
}
