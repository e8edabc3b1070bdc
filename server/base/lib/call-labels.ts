/** Labels under which a call is counted besides its account, key and model; its record has them. */
export interface CallLabels {
  readonly tags?: readonly string[]
  /** The person behind the call, as the caller names them. */
  readonly end_user?: string
  /** The version of the model's base price, where another price is charged. */
  readonly base_version?: number
}

/** Tags that a key has, and tags that a caller may add. */
export const TAGS_MAX = 8
const TAG_LENGTH_MAX = 64
/**
 * Commas separate tags, and the other characters would be escaped in JSON, whose text is indexed.
 */
const TAG = /^[^\p{Cc}\p{Cs},"[\]\\]+$/u

/** Returns what is wrong with a list of tags, or undefined. */
export function problemOfTags(tags: readonly string[]): string | undefined {
  if (new Set(tags).size > TAGS_MAX) return `at most ${TAGS_MAX} tags`
  for (const tag of tags) {
    // A character may be two code units.
    if (tag === '' || tag.length > 2 * TAG_LENGTH_MAX || [...tag].length > TAG_LENGTH_MAX) {
      return `a tag has 1 to ${TAG_LENGTH_MAX} characters`
    }
    if (!TAG.test(tag) || tag.trim() !== tag) {
      return 'a tag has no commas, quotes, brackets, backslashes or spaces around it'
    }
  }
  return undefined
}

/** Returns true if a tag states a required one: `team` by itself or as `team:blue`. */
export function statesTag(tag: string, required: string): boolean {
  return tag === required || tag.startsWith(`${required}:`)
}
