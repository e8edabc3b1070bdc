/**
 * Puts modules that pages share into few files. By itself the bundler makes a file for each set of
 * pages that have something in common, and a page then fetches fifty of them.
 */
import { join } from 'node:path'
import type { Rolldown } from 'vite'

const ENTRY = join(import.meta.dirname, '..', 'src', 'main.tsx')
/** A smaller file joins the one whose pages are most alike, before minification. */
const SHARED_BYTES_MIN = 60_000

/** The options of the output: what the sign-in page needs, what pages share, and each page. */
export function groupChunks(): Rolldown.OutputOptions {
  let first: ReadonlySet<string> | undefined
  const isFirst = (id: string, context: Rolldown.ChunkingContext) => {
    first ??= listImports(ENTRY, context)
    return first.has(id)
  }
  return {
    codeSplitting: {
      groups: [
        {
          debugName: 'first',
          name: (id, context) => (isFirst(id, context) ? 'first' : null),
          priority: 1,
        },
        {
          debugName: 'shared',
          name: (id, context) => (isFirst(id, context) ? null : 'shared'),
          minShareCount: 2,
          entriesAware: true,
          entriesAwareMergeThreshold: SHARED_BYTES_MIN,
        },
      ],
    },
    // Their names list the pages that share them.
    chunkFileNames: ({ name }) => `assets/${name.split('~')[0]}-[hash].js`,
  }
}

/** Returns the module and all that it imports before it runs. */
function listImports(
  id: string,
  context: Rolldown.ChunkingContext,
  found = new Set<string>(),
): ReadonlySet<string> {
  if (found.has(id)) return found
  found.add(id)
  for (const one of context.getModuleInfo(id)?.importedIds ?? []) listImports(one, context, found)
  return found
}
