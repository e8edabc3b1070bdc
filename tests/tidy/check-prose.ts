/** Checks that doc comments are statements: an indirect question does not name its subject. */
import { lineOf, type SourceFile } from './read-tree.ts'
import { STATED_FOLDERS } from './rules.ts'

const OPENING = /^\/\*\*[\s*]*(What|Whether|Who|Whose|Whoever|How|Which|Where|Why)\b/

/** Returns the doc comments of `STATED_FOLDERS` that open with a question word. */
export function checkOpenings(sources: readonly SourceFile[]): readonly string[] {
  const stated = sources.filter(({ path }) => {
    return STATED_FOLDERS.some((folder) => path.startsWith(`${folder}/`))
  })
  return stated.flatMap(({ path, text, masked }) =>
    masked.comments.flatMap((comment) => {
      const word = OPENING.exec(comment.text)?.[1]
      return word ? [`${path}:${lineOf(text, comment.start)} opens with "${word}"`] : []
    }),
  )
}
