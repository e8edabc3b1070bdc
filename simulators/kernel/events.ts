// Event-stream framing, and the legal but unusual framings of real upstreams.
import type { Frame, StreamReply } from './exchange.ts'
import type { Scenario } from './scenario.ts'

export function dataEvent(value: unknown, units?: number): Frame {
  const data = `data: ${JSON.stringify(value)}\n\n`
  return units === undefined ? { data } : { data, units }
}

export function namedEvent(name: string, value: unknown, units?: number): Frame {
  const data = `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
  return units === undefined ? { data } : { data, units }
}

const asText = (frame: Frame): string => frame.data.toString()

/** Applies the framing faults; only `huge-line` changes the number of frames. */
export function reframe(reply: StreamReply, scenario: Scenario): Frame[] {
  let frames = reply.frames
  const huge = scenario.number('huge-line')
  if (huge !== undefined) {
    const position = Math.min(scenario.number('at') ?? 1, frames.length)
    frames = [...frames.slice(0, position), reply.padding(huge), ...frames.slice(position)]
  }
  const bad = scenario.position('bad-chunk', 2)
  if (scenario.has('bad-chunk')) {
    frames = frames.map((frame, index) => (index + 1 === bad ? broken(frame) : frame))
  }
  for (const [name, change] of FRAMINGS) {
    if (scenario.has(name)) frames = frames.map(change)
  }
  return frames
}

type Change = (frame: Frame, index: number, frames: Frame[]) => Frame

const changed = (frame: Frame, data: string): Frame => ({ ...frame, data })
const LINE_ENDS = ['\r\n', '\n', '\r']

// Order matters: line ends are changed last.
const FRAMINGS: [string, Change][] = [
  ['multiline', (frame) => changed(frame, overSeveralLines(asText(frame)))],
  [
    'comments',
    (frame) => changed(frame, `: OPENROUTER PROCESSING\n\n:keepalive\n${asText(frame)}`),
  ],
  [
    'no-final-blank',
    (frame, index, frames) =>
      index === frames.length - 1 ? changed(frame, asText(frame).trimEnd()) : frame,
  ],
  ['crlf', (frame) => changed(frame, asText(frame).replaceAll('\n', '\r\n'))],
  ['cr', (frame) => changed(frame, asText(frame).replaceAll('\n', '\r'))],
  [
    'mixed-ends',
    (frame, index) => changed(frame, asText(frame).replaceAll('\n', LINE_ENDS[index % 3] ?? '\n')),
  ],
]

/** Returns half of the JSON, with the event's own ending, so that only the JSON is invalid. */
function broken(frame: Frame): Frame {
  const text = asText(frame)
  const body = text.trimEnd()
  const start = Math.max(0, body.lastIndexOf('\ndata: ') + 1)
  const half = start + Math.floor((body.length - start) / 2)
  return changed(frame, body.slice(0, half) + text.slice(body.length))
}

function overSeveralLines(text: string): string {
  return text.replace(/^data: (\{.*\})$/m, (_, json: string) =>
    JSON.stringify(JSON.parse(json), null, 1)
      .split('\n')
      .map((line) => `data: ${line}`)
      .join('\n'),
  )
}
