/** Checks texts that are compared in lower case, which must not make two different texts equal. */

/** Characters beyond ASCII whose lower case has ASCII in it, in some locale of a database. */
const FOLDING = /[\u0130\u212A]/

/**
 * Returns true for a text that lower-casing turns into ASCII text, which may belong to somebody
 * else: the Kelvin sign (U+212A) becomes k, and İ (U+0130) becomes i. Two mailboxes would be one.
 */
export function foldsIntoAscii(text: string): boolean {
  return FOLDING.test(text)
}
