/** Every endpoint of the table of contents is tested in a file that is found by its name. */
import type { SourceFile } from './read-tree.ts'

const INDEX = 'server/api/endpoints/index.ts'

/** Files with an endpoint in them that have neither `<name>.test.ts` nor a folder of tests. */
export function checkEndpointTests(
  sources: readonly SourceFile[],
  paths: readonly string[],
): string[] {
  const index = sources.find(({ path }) => path === INDEX)
  const files = (index?.imports ?? []).filter(({ typeOnly }) => !typeOnly)
  return files.flatMap(({ target }) => {
    const name = target?.replace(/^server\/api\/endpoints\//, '').replace(/\.ts$/, '')
    const isTested = paths.some((path) => new RegExp(`^tests/endpoints/${name}[./]`).test(path))
    return isTested ? [] : [`tests/endpoints/${name}.test.ts is missing`]
  })
}
