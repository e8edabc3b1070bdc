/** Fails the build when the first page would fetch more than its limit. */
import { gzipSync } from 'node:zlib'
import type { Plugin, Rollup } from 'vite'

/** Counts the entry, everything it imports statically, and all their styles, gzipped. */
export function limitFirstLoad(bytesMax: number): Plugin {
  return {
    name: 'limit-first-load',
    apply: 'build',
    generateBundle(_, bundle) {
      const entries = Object.values(bundle).filter(
        (output): output is Rollup.OutputChunk => output.type === 'chunk' && output.isEntry,
      )
      const names = new Set<string>()
      for (const entry of entries) collect(entry.fileName, bundle, names)
      const styles = Object.keys(bundle).filter((name) => /index-[^/]*\.css$/.test(name))
      const bytes = [...names, ...styles].reduce((sum, name) => sum + size(bundle[name]), 0)
      this.info(`first load: ${Math.round(bytes / 1000)} kB gzipped (limit ${bytesMax / 1000})`)
      if (bytes > bytesMax) this.error(`first load is ${bytes} bytes, over ${bytesMax}`)
    },
  }
}

function collect(name: string, bundle: Rollup.OutputBundle, names: Set<string>): void {
  const output = bundle[name]
  if (output?.type !== 'chunk' || names.has(name)) return
  names.add(name)
  for (const imported of output.imports) collect(imported, bundle, names)
}

function size(output: Rollup.OutputAsset | Rollup.OutputChunk | undefined): number {
  if (!output) return 0
  return gzipSync(output.type === 'chunk' ? output.code : output.source).length
}
