/** Folds the many forms of one character to one. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII has one form
const ASCII = /^[\u0000-\u007f]*$/
const MARKS = /[\p{M}\p{Cf}]+/gu

/**
 * Returns the text in compatibility form (NFKC), without combining marks and the characters that
 * only format, such as a soft hyphen: `ｒｓ`, `𝐫𝐬` become `rs`. The marks go first, because
 * normalization sorts each run of them, and takes the square of its length for that: 80,000 of them
 * stop the process for seconds.
 */
export function foldForms(text: string): string {
  if (ASCII.test(text)) return text
  return text.replace(MARKS, '').normalize('NFKC')
}
