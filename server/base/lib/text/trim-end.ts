/**
 * Returns the text without those of `characters` that stand at its end. A pattern such as `/\/+$/`
 * would try each run of them inside of the text, from each of its characters.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
