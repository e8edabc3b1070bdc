/** The end of a run's output, of which a CI system may show no more than the last hundred lines. */
import { inspect } from 'node:util'

/** A failed test, or a process that failed by itself. */
export interface Failure {
  readonly file: string
  readonly test: string
  /** What was thrown, or of a process the end of its stderr. */
  readonly error: unknown
}

const LINES_MAX = 90
const DETAIL_LINES_MIN = 10
const NAMED_MAX = 15
const CHARACTERS_MAX = 240
/** Frames of Node say nothing about the failure. */
const FRAME_OF_NODE = /^\s+at .*\bnode:/

/** Two lines for each failure, then the details of as many as the space takes. */
export function describeFailures(failures: readonly Failure[]): string {
  const named = failures.slice(0, NAMED_MAX)
  const unnamed = failures.length - named.length
  const short = named.flatMap(({ file, test, error }) => [
    `${file}: ${test}`,
    `  ${summarize(listLines(error))}`,
  ])
  if (unnamed > 0) short.push(`and ${unnamed} more, which are above`)
  const space = LINES_MAX - short.length
  const count = Math.min(named.length, Math.floor(space / DETAIL_LINES_MIN))
  const lines = Math.floor(space / Math.max(1, count))
  const details = named.slice(0, count).flatMap((failure) => detail(failure, lines))
  return [...short, ...details].map(cutLine).join('\n')
}

function listLines(error: unknown): string[] {
  const text = typeof error === 'string' ? error : inspect(error, { depth: 4 })
  return text.split('\n').filter((line) => line !== '' && !FRAME_OF_NODE.test(line))
}

/** What was thrown, what a comparison found, and the first place in the tree that it names. */
function summarize(lines: readonly string[]): string {
  const start = Math.max(
    0,
    lines.findIndex((line) => /^\S*Error\b/.test(line)),
  )
  const differing = lines.filter((line) => /^[+-] (?!actual)/.test(line)).slice(0, 4)
  const place = lines.find((line) => /^\s+at /.test(line)) ?? ''
  return [lines[start] ?? '', ...differing, place]
    .filter((part) => part)
    .map(trim)
    .join(' | ')
}

function trim(text: string): string {
  return text.trim().slice(0, CHARACTERS_MAX / 2)
}

function detail({ file, test, error }: Failure, space: number): string[] {
  // An empty line and the heading.
  return ['', `${file}: ${test}`, ...cutMiddle(listLines(error), space - 2)]
}

/** The message stands at the beginning, what was expected at the end. */
function cutMiddle(lines: readonly string[], space: number): string[] {
  if (lines.length <= space) return [...lines]
  const head = Math.ceil((space - 1) * 0.6)
  const tail = space - 1 - head
  return [
    ...lines.slice(0, head),
    `  … ${lines.length - head - tail} lines …`,
    ...lines.slice(lines.length - tail),
  ]
}

function cutLine(line: string): string {
  return line.length > CHARACTERS_MAX ? `${line.slice(0, CHARACTERS_MAX)}…` : line
}
