/** Finds the model that a caller meant by a name that no model has. */
const EDITS_MAX = 2
/** Shorter names are as near to each other by chance. */
const LENGTH_MIN = 4

/** Returns the only nearest name, or undefined if none is near or several are as near. */
export function suggestModel(misspelt: string, names: Iterable<string>): string | undefined {
  const form = fold(misspelt)
  let found: string | undefined
  let fewest = form.length < LENGTH_MIN ? 1 : EDITS_MAX + 1
  for (const name of names) {
    const edits = countEdits(form, fold(name), Math.min(fewest, EDITS_MAX))
    if (edits > fewest || edits > EDITS_MAX) continue
    found = edits < fewest ? name : undefined
    fewest = edits
  }
  return found
}

/** Case, separators and the provider before a slash are what names mostly differ by. */
function fold(name: string): string {
  const form = name.slice(0, 200).toLowerCase()
  return form.slice(form.lastIndexOf('/') + 1).replace(/[\s._:-]+/g, '-')
}

/** Returns by how many characters two texts differ, or `limit` + 1 for more than `limit`. */
function countEdits(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const now = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = one[row - 1] === other[column - 1] ? 0 : 1
      const diagonal = (before[column - 1] ?? 0) + replaced
      now.push(Math.min(diagonal, (before[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1))
    }
    if (Math.min(...now) > limit) return limit + 1
    before = now
  }
  return Math.min(before[other.length] ?? 0, limit + 1)
}
