/** The fields of a form that were refused, and why. */
import { createContext, useContext } from 'react'

export interface RefusedField {
  /** The server's name of the field, for example `prices[0].amount`. */
  readonly param: string
  readonly text: string
}

export const RefusedFieldsContext = createContext<readonly RefusedField[]>([])

/** Returns a function with the first refusal that names a field or a part of it. */
export function useFieldErrors(): (param: string) => string | undefined {
  const refused = useContext(RefusedFieldsContext)
  return (param) => refused.find((one) => names(one.param, param))?.text
}

function names(refused: string, param: string): boolean {
  return refused.startsWith(param) && /^$|^[.[]/.test(refused.slice(param.length))
}
