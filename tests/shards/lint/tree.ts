/** Walks trees of PostgreSQL's own parser, whose nodes are objects with one member: their type. */
export type Tree = Readonly<Record<string, unknown>>

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function treeOf(value: unknown, member: string): Tree | undefined {
  const found = isTree(value) ? value[member] : undefined
  return isTree(found) ? found : undefined
}

export function listOf(value: unknown, member: string): readonly unknown[] {
  const found = isTree(value) ? value[member] : undefined
  return Array.isArray(found) ? found : []
}

export function textOf(value: unknown, member: string): string {
  const found = isTree(value) ? value[member] : undefined
  return typeof found === 'string' ? found : ''
}

/** Visits the trees below `value`, outer ones first; not those below a tree that `visit` takes. */
export function walk(value: unknown, visit: (tree: Tree) => boolean): void {
  if (Array.isArray(value)) {
    for (const one of value) walk(one, visit)
  } else if (isTree(value) && !visit(value)) {
    for (const one of Object.values(value)) walk(one, visit)
  }
}
