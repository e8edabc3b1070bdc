/** Folds language tags (`zh-Hans-CN`, `zh_cn`, `ZH`) to the codes of vendors that know fewer. */

const TAG = /^[a-z]{2,4}(?:-[a-z0-9]{2,8}){0,3}$/

/**
 * Returns the one of `known` that a tag means: the same in any letter case, else that of the same
 * language. Undefined if there is none.
 */
export function foldLanguage<Code extends string>(
  tag: string,
  known: readonly Code[],
): Code | undefined {
  const plain = toPlain(tag)
  if (!TAG.test(plain)) return undefined
  const same = known.find((code) => toPlain(code) === plain)
  return same ?? known.find((code) => mainLanguage(code) === mainLanguage(tag))
}

/** Returns the language of a tag without script and region, in small letters: `zh`. */
export function mainLanguage(tag: string): string {
  return toPlain(tag).split('-')[0] ?? ''
}

function toPlain(tag: string): string {
  return tag.trim().toLowerCase().replaceAll('_', '-')
}
