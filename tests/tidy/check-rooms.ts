/** Rooms of a folder: small enough to be seen at once, in one order, and without circles. */
import { posix } from 'node:path'
import type { SourceFile } from './read-tree.ts'
import { FOLDER_FILES_MAX, MAY_IMPORT, ROOMS, UNORDERED } from './rules.ts'

const CODE = /^(?:server|bin|console|simulators|scripts|tests|benchmarks|proofs|testbed)\//
const CODE_FILE = /\.(?:ts|tsx|mjs|css)$/

/** Folders of code with too many files; fixtures and results are data. */
export function checkFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const path of paths.filter((one) => CODE.test(one) && CODE_FILE.test(one))) {
    const folder = posix.dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > FOLDER_FILES_MAX)
    .map(([folder, count]) => `${folder} has ${count} files, over ${FOLDER_FILES_MAX}: part it`)
}

/** Parts that a part may import stand before it, so that they have one order. */
export function checkParts(): string[] {
  const order = Object.keys(MAY_IMPORT)
  return Object.entries(MAY_IMPORT).flatMap(([part, allowed]) =>
    allowed
      .filter((one) => order.indexOf(one) >= order.indexOf(part) || !order.includes(one))
      .map((one) => `"${part}" may import "${one}", which does not stand before it`),
  )
}

/** Within a folder that has an order of rooms no import goes to a later room. */
export function checkRooms(sources: readonly SourceFile[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ target }) => {
      const problem = target === undefined ? undefined : judgeRooms(path, target)
      return problem ? [`${path} imports ${target}: ${problem}`] : []
    }),
  )
}

function judgeRooms(path: string, target: string): string | undefined {
  for (const [folder, order] of Object.entries(ROOMS)) {
    if (!path.startsWith(`${folder}/`) || !target.startsWith(`${folder}/`)) continue
    const from = roomOf(path, folder, order)
    const to = roomOf(target, folder, order)
    if (!order.includes(from)) return `give the room ${folder}/${from} its place in ROOMS`
    if (order.indexOf(to) > order.indexOf(from)) return `"${from}" stands before "${to}"`
  }
  return undefined
}

/** A folder's name; at the door a file's own name if the order has it, else `door`. */
function roomOf(path: string, folder: string, order: readonly string[]): string {
  const [first = '', ...rest] = path.slice(folder.length + 1).split('/')
  return rest.length > 0 || order.includes(first) ? first : 'door'
}

/** Parts with folders in them that have no order of rooms. */
export function checkOrdersKnown(paths: readonly string[]): string[] {
  const parts = new Set(
    paths
      .filter((path) => path.endsWith('.ts') && path.split('/').length > 3)
      .filter((path) => path.startsWith('server/'))
      .map((path) => path.split('/').slice(0, 2).join('/')),
  )
  return [...parts]
    .filter((part) => !(part in ROOMS || UNORDERED.has(part)))
    .map((part) => `${part} has rooms and no order in ROOMS`)
}

/** Circles of imports, those of types included: each is named by its files. */
export function findCircles(sources: readonly SourceFile[]): string[] {
  const places = /^(?:server|console\/src)\//
  const edges = new Map<string, readonly string[]>()
  for (const { path, imports } of sources.filter((one) => places.test(one.path))) {
    const targets = imports.flatMap(({ target }) => (target === undefined ? [] : [target]))
    edges.set(path, targets)
  }
  return stronglyConnected(edges).map((circle) => `a circle: ${circle.sort().join(', ')}`)
}

/** Tarjan's algorithm; only components of more than one node. */
function stronglyConnected(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const lower = (node: string, number: number) =>
    lowest.set(node, Math.min(lowest.get(node) ?? number, number))

  function visit(node: string): void {
    const number = numbers.size
    numbers.set(node, number)
    lowest.set(node, number)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue
      if (!numbers.has(next)) {
        visit(next)
        lower(node, lowest.get(next) ?? number)
      } else if (stack.includes(next)) {
        lower(node, numbers.get(next) ?? number)
      }
    }
    if (lowest.get(node) !== number) return
    const component = stack.splice(stack.indexOf(node))
    if (component.length > 1) circles.push(component)
  }

  for (const node of edges.keys()) if (!numbers.has(node)) visit(node)
  return circles
}
