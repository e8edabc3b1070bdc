/** Numbers of exports whose fields are not separated by commas: they may have a decimal comma. */
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import type { Separator } from './cut-csv.ts'

/** Returns a number with a decimal point. Throws OperatorError that names the line. */
export type DecimalReader = (text: string, where: string) => string

/** Points between thousands alone, and a decimal comma. */
const WITH_COMMA = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d*$/
/** Commas between thousands, and a decimal point. */
const WITH_BOTH = /^[+-]?\d{1,3}(?:,\d{3})+\.\d*$/

/**
 * Returns the reader of one export. `1.234` is a fraction unless other numbers have decimal commas,
 * and `1,234` only beside such: an export with both is refused.
 */
export function createDecimalReader(separator: Separator): DecimalReader {
  if (separator === ',') return (text) => text
  let mark: ',' | '.' | undefined
  return (text, where) => {
    if (!/[.,]/.test(text)) return text
    const own = text.includes(',') && !WITH_BOTH.test(text) ? ',' : '.'
    mark ??= own
    if (own !== mark) {
      throw new OperatorError(`${where}: numbers have decimal points as well as decimal commas`)
    }
    if (own === '.') return text
    if (WITH_COMMA.test(text)) return text.replaceAll('.', '').replace(',', '.')
    throw new OperatorError(`${where}: ${JSON.stringify(text)} is not a number`)
  }
}
