/**
 * Draws docs/frontier.svg from the last board: calls per second within limits of the 99th
 * percentile, legible on a light and on a dark page. `node scripts/build-frontier.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
export const FRONTIER = join(ROOT, 'docs', 'frontier.svg')

interface Board {
  readonly date: string
  readonly machine: string
  /** A name, and the calls a second within 1, 5, 10, 50 and 100 ms. */
  readonly best: readonly (readonly [name: string, ...rates: number[]])[]
}

/** The columns that a shared machine can answer: 10, 50 and 100 ms. */
const LIMITS = [
  { label: 'p99 within 10 ms', at: 3 },
  { label: 'p99 within 50 ms', at: 4 },
  { label: 'p99 within 100 ms', at: 5 },
] as const
const SHOWN = ['Tributary', 'Portkey', 'prototype'] as const
const NAMES: Readonly<Record<string, string>> = {
  Tributary: 'Tributary: keys, limits, ledger on disk',
  Portkey: 'Portkey: no keys, no ledger',
  prototype: 'prototype: only a ledger on disk',
}
const [BAR, GROUP, LEFT, WIDTH] = [20, 92, 150, 420]

/** Returns the drawing of the recorded board. */
export function drawFrontier(): string {
  const path = join(ROOT, 'benchmarks', 'results', 'board.json')
  const board: Board = JSON.parse(readFileSync(path, 'utf8'))
  const rows = SHOWN.map((name) => board.best.find(([found]) => found.startsWith(name)))
  const most = Math.max(...rows.flatMap((row) => LIMITS.map(({ at }) => Number(row?.[at]))))
  const groups = LIMITS.map(({ label, at }, group) => {
    const top = 56 + group * GROUP
    const bars = rows.map((row, index) => {
      const rate = Number(row?.[at] ?? 0)
      const y = top + index * (BAR + 4)
      const width = Math.max(1, Math.round((rate / most) * WIDTH))
      const bar = `x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="3"`
      return `<rect class="${SHOWN[index]}" ${bar}/>
<text x="${LEFT + width + 8}" y="${y + 15}">${rate.toLocaleString('en')}</text>`
    })
    const title = `<text class="limit" x="${LEFT - 12}" y="${top + 39}">${label}</text>`
    return `${title}\n${bars.join('\n')}`
  })
  const key = SHOWN.map((name, index) => {
    const x = [8, 270, 466][index]
    return `<rect class="${name}" x="${x}" y="18" width="12" height="12" rx="2"/>
<text x="${Number(x) + 18}" y="28">${NAMES[name]}</text>`
  })
  const source = `${board.machine} · ${board.date.slice(0, 10)} · npm run bench -- board`
  const bottom = 56 + LIMITS.length * GROUP
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 ${bottom + 14}" role="img">
<title>Calls per second at which the 99th percentile of latency stays within a limit</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #4a5763 }
.limit { text-anchor: end; font-weight: 600 }
.Tributary { fill: #0a6a94 } .Portkey { fill: #9aa7b2 } .prototype { fill: #c9962f }
@media (prefers-color-scheme: dark) {
text { fill: #a9b7c4 } .Tributary { fill: #62bfe6 } .Portkey { fill: #5d6b78 }
}
</style>
${key.join('\n')}
${groups.join('\n')}
<text x="8" y="${bottom + 6}">calls a second · ${source}</text>
</svg>
`
}

if (import.meta.main) writeFileSync(FRONTIER, drawFrontier())
