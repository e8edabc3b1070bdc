/** Text for property tests. */
import fc from 'fast-check'

const SURROGATES_START = 0xd800
const SURROGATES = 0x800
const CODE_POINTS_MAX = 0x10ffff - SURROGATES

/**
 * Text of any code points, as `fc.string({ unit: 'binary' })`, without the seconds that the package
 * takes for a table of all of them.
 */
export function anyText(options: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  const codePoint = fc
    .nat(CODE_POINTS_MAX)
    .map((index) => (index < SURROGATES_START ? index : index + SURROGATES))
  return fc.array(codePoint, options).map((all) => String.fromCodePoint(...all))
}
