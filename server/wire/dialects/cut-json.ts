/**
 * Removes parts of a JSON body at any depth, in one pass over its bytes. The rest stays as the
 * caller sent it, for the reasons given in splice.ts.
 */
import { CLOSING, COMMA, OPENING, readKey, scannerAt, skipSpace, skipValue } from './json-scan.ts'

/** Names of members and positions in arrays, from the outside to the inside. */
export type JsonPath = readonly (string | number)[]

/** Writes a path as the field of an error. */
export function printPath(path: JsonPath): string {
  const [first = '', ...steps] = path
  const rest = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
  return [first, ...rest].join('')
}

/** The paths as a tree; `null` is the end of one. */
type Branches = Map<string | number, Branches | null>

type Scanner = ReturnType<typeof scannerAt>

interface Cut {
  readonly start: number
  readonly end: number
}

/**
 * Returns the body without the members and elements at `paths`, or the same Buffer if it has none
 * of them. `bytes` must have been accepted by `parseRequestJson`. A duplicate key is removed twice.
 */
export function cutJson(bytes: Buffer, paths: readonly JsonPath[]): Buffer {
  const cuts: Cut[] = []
  const scanner = scannerAt(bytes, 0)
  skipSpace(scanner)
  cutContainer(scanner, growTree(paths), cuts)
  if (cuts.length === 0) return bytes
  cuts.sort((one, other) => one.start - other.start)
  const pieces: Buffer[] = []
  let position = 0
  for (const { start, end } of cuts) {
    pieces.push(bytes.subarray(position, start))
    position = end
  }
  pieces.push(bytes.subarray(position))
  return Buffer.concat(pieces)
}

function growTree(paths: readonly JsonPath[]): Branches {
  const root: Branches = new Map()
  for (const path of paths) {
    let branches: Branches | null = root
    for (const [depth, step] of path.entries()) {
      const below: Branches | null | undefined = branches.get(step)
      // Its container is already removed.
      if (below === null) break
      const next: Branches | null = depth === path.length - 1 ? null : (below ?? new Map())
      branches.set(step, next)
      if (next === null) break
      branches = next
    }
  }
  return root
}

/** Reads a container from its opening on; recursion is limited by the depth of the body. */
function cutContainer(scanner: Scanner, branches: Branches, cuts: Cut[]): void {
  const { bytes } = scanner
  const isArray = bytes[scanner.position] === OPENING.array
  scanner.position++
  let keptEnd: number | undefined
  let removed: Cut | undefined
  for (let index = 0; !CLOSING.has(skipSpace(scanner)); index++) {
    const start = scanner.position
    const step = isArray ? index : (readKey(scanner) ?? '')
    const branch = branches.get(step)
    const opening = bytes[scanner.position]
    const isOpen = opening === OPENING.array || opening === OPENING.object
    if (branch && isOpen) cutContainer(scanner, branch, cuts)
    else skipValue(scanner)
    const end = scanner.position
    if (branch === null) removed = { start: removed?.start ?? start, end }
    else {
      // The first element is removed with the comma after it, any other with the comma before it.
      if (removed && keptEnd === undefined) cuts.push({ start: removed.start, end: start })
      else if (removed) cuts.push({ start: keptEnd ?? 0, end: removed.end })
      keptEnd = end
      removed = undefined
    }
    if (skipSpace(scanner) === COMMA) scanner.position++
  }
  if (removed) cuts.push({ start: keptEnd ?? removed.start, end: removed.end })
  scanner.position++
}
