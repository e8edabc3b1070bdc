/**
 * Prints the regular expressions that the modules of server/ build from text while they load, each
 * with the line that builds it. A process of its own, in which none of them is loaded yet.
 */
import { relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { listFiles, ROOT } from '../../tidy/read-tree.ts'
import type { FoundPattern } from './find-patterns.ts'

const FRAME = /(file:\/\/[^\s()]*):(\d+):\d+\)?$/

/** The first line of server/ on the stack. */
function callerIn(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    const [, url = '', number] = FRAME.exec(line) ?? []
    const path = url && relative(ROOT, fileURLToPath(url))
    if (path?.startsWith('server/')) return `${path}:${number}`
  }
  return undefined
}

const found: FoundPattern[] = []

function record(built: RegExp): RegExp {
  const place = callerIn(new Error().stack ?? '')
  if (place) found.push({ place, source: built.source, flags: built.flags })
  return built
}

globalThis.RegExp = new Proxy(RegExp, {
  construct: (target, args: [string]) => record(new target(...args)),
  apply: (target, _, args: [string]) => record(target(...args)),
})
const paths = listFiles('server').filter((path) => path.endsWith('.ts'))
for (const path of paths) await import(pathToFileURL(`${ROOT}/${path}`).href)
process.stdout.write(JSON.stringify(found))
