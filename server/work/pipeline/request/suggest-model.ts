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

/**
 * Returns by how many characters two texts differ, or more than `limit`. Looks only at the columns
 * within `limit` of each row: catalogs may have thousands of names.
 */
function countEdits(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1
  const places = Array.from({ length: 2 * limit + 1 }, (_, place) => place)
  let before = places.map((place) => (place < limit ? Infinity : place - limit))
  for (let row = 1; row <= one.length; row += 1) {
    const now: number[] = []
    for (const place of places) {
      const column = row + place - limit
      const replaced = one[row - 1] === other[column - 1] ? 0 : 1
      const diagonal = (before[place] ?? Infinity) + replaced
      const edits = Math.min(
        diagonal,
        (before[place + 1] ?? Infinity) + 1,
        (now.at(-1) ?? Infinity) + 1,
      )
      now.push(column < 0 || column > other.length ? Infinity : column === 0 ? row : edits)
    }
    if (Math.min(...now) > limit) return limit + 1
    before = now
  }
  return before[other.length - one.length + limit] ?? limit + 1
}
