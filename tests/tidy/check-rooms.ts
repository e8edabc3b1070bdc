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

/** Folders of one kind, which may stand side by side in any number. */
const PEERS: Readonly<Record<string, string>> = {
  'console/src/features': 'a page each',
  'console/src/features/playground': 'a page each',
  proofs: 'a proof each',
  'server/api/admin/account': 'an area each',
  'server/api/admin/operator': 'an area each',
  'server/api/endpoints': 'an area each',
  'server/wire/dialects': 'a dialect or a translator each',
  'server/wire/upstreams': 'a protocol each',
  simulators: 'a vendor each',
  tests: 'a part each',
  'tests/console': 'a part each',
  'tests/dialects': 'a dialect each',
  'tests/endpoints': 'an area each',
}
const SUBFOLDERS_MAX = 8

/** Folders of code with too many folders side by side. `sql/` belongs to the files beside it. */
export function checkSubfolders(paths: readonly string[]): string[] {
  const children = new Map<string, Set<string>>()
  for (const path of paths.filter((one) => CODE.test(one) && CODE_FILE.test(one))) {
    const steps = path.split('/').slice(0, -1)
    for (const [index, name] of steps.entries()) {
      const folder = steps.slice(0, index).join('/')
      if (index > 0) children.set(folder, (children.get(folder) ?? new Set()).add(name))
    }
  }
  return [...children]
    .filter(([folder, names]) => names.size > SUBFOLDERS_MAX && !(folder in PEERS))
    .map(([folder, { size }]) => `${folder} has ${size} folders, over ${SUBFOLDERS_MAX}`)
}

interface Storey {
  readonly parts: readonly string[]
  readonly over: readonly string[]
}

/**
 * The storeys of server/, from the lowest to the highest, each with its parts and those storeys
 * that it may import. Money and wire never know each other: a charge is computed from counted
 * units, whatever the vendor's words for them, and a vendor's words do not change for a price.
 */
const STOREYS: Readonly<Record<string, Storey>> = {
  base: { parts: 'lib database http workers tracing outbound'.split(' '), over: [] },
  money: { parts: 'ledger usage accounts catalog'.split(' '), over: ['base'] },
  wire: { parts: 'dialects upstreams'.split(' '), over: ['base'] },
  work: {
    parts: 'assets archive webhooks alerts pipeline tasks'.split(' '),
    over: ['base', 'money', 'wire'],
  },
  api: {
    parts: 'sign-in metrics config endpoints console admin app'.split(' '),
    over: ['base', 'money', 'wire', 'work'],
  },
}

/** Parts that stand in another storey than theirs, and rows of MAY_IMPORT that lead upwards. */
export function checkStoreys(paths: readonly string[]): string[] {
  const storeyOf = (part: string) =>
    Object.keys(STOREYS).find((name) => STOREYS[name]?.parts.includes(part.split('/')[0] ?? ''))
  const placed = new Set(paths.map((path) => path.split('/').slice(0, 4).join('/')))
  const misplaced = [...placed].flatMap((path) => {
    const [top, storey = '', part, file] = path.split('/')
    if (top !== 'server' || part === undefined) return []
    if (file !== undefined && STOREYS[storey]?.parts.includes(part)) return []
    return [`${path}: give the part its storey in STOREYS`]
  })
  const upwards = Object.entries(MAY_IMPORT).flatMap(([part, allowed]) => {
    const storey = storeyOf(part) ?? ''
    const reach = [storey, ...(STOREYS[storey]?.over ?? [])]
    return allowed
      .filter((one) => !reach.includes(storeyOf(one) ?? ''))
      .map((one) => `"${part}" of ${storey}/ must not import "${one}" of ${storeyOf(one)}/`)
  })
  return [...misplaced, ...upwards]
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

/** A folder's name; directly in it a file's own name if the order has it, else `.`. */
function roomOf(path: string, folder: string, order: readonly string[]): string {
  const [first = '', ...rest] = path.slice(folder.length + 1).split('/')
  return rest.length > 0 || order.includes(first) ? first : '.'
}

/** Parts with folders in them that have no order of rooms. */
export function checkOrdersKnown(paths: readonly string[]): string[] {
  const parts = new Set(
    paths
      .filter((path) => path.endsWith('.ts') && path.split('/').length > 4)
      .filter((path) => path.startsWith('server/'))
      .map((path) => path.split('/').slice(0, 3).join('/')),
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
