/** Folds the many forms of one character to one. */

const MARKS = /[\p{M}\p{Cf}]+/gu

/**
 * Returns the text in compatibility form (NFKC), without combining marks and the characters that
 * only format, such as a soft hyphen: `ｒｓ`, `𝐫𝐬` become `rs`. The marks go first, because
 * normalization sorts each run of them, and takes the square of its length for that: 80,000 of them
 * stop the process for seconds.
 */
export function foldForms(text: string): string {
  return text.replace(MARKS, '').normalize('NFKC')
}
